// The packets of a session that reads: the opening, a ping, authentication, three reads and `sync`. Numbers are those
// of ZooKeeper's ZooDefs.OpCode and KeeperException.Code. Pure.

import { JuteReader, JuteWriter } from './jute.ts';

const OP = { exists: 3, getData: 4, sync: 9, ping: 11, getChildren: 12, auth: 100, close: -11 } as const;
/** Transaction numbers of packets that are no request. */
const XID = { watch: -1, ping: -2, auth: -4 } as const;
const NO_NODE = -101;
const ERRORS: Readonly<Record<number, string>> = {
  [-1]: 'system error of the server',
  [-4]: 'connection loss',
  [-8]: 'bad arguments',
  [-102]: 'no authority to read it',
  [-112]: 'the session is expired',
  [-115]: 'authentication failed',
  [-118]: 'the session moved to another server',
};

export interface SessionId {
  readonly id: bigint;
  readonly password: Buffer;
}

export const noSession: SessionId = { id: 0n, password: Buffer.alloc(16) };

export interface Opened {
  /** Undefined: the session is expired. */
  readonly session: SessionId | undefined;
  readonly timeoutMs: number;
}

export type Request =
  | { readonly op: 'exists' | 'getData' | 'getChildren'; readonly path: string }
  | { readonly op: 'sync'; readonly path: string };

/** What a node has; `absent`: there is no such node. */
export interface NodeData {
  readonly absent: boolean;
  readonly children: readonly string[];
  readonly data: Buffer;
  /** Milliseconds since the epoch at which the node was made, by the server's clock; 0: not said. */
  readonly createdMs: number;
}

export type Reply =
  | { readonly kind: 'answer'; readonly xid: number; readonly zxid: bigint; readonly body: JuteReader }
  | {
      readonly kind: 'error';
      readonly xid: number;
      readonly zxid: bigint;
      readonly why: string;
      readonly absent: boolean;
    }
  | { readonly kind: 'fired'; readonly path: string }
  | { readonly kind: 'other' };

export function opening(lastZxid: bigint, timeoutMs: number, { id, password }: SessionId): Buffer {
  return new JuteWriter().int(0).long(lastZxid).int(timeoutMs).long(id).buffer(password).bool(false).packet();
}

export function opened(packet: Buffer): Opened {
  const reader = new JuteReader(packet);
  reader.int();
  const timeoutMs = reader.int();
  const id = reader.long();
  const password = Buffer.from(reader.buffer());
  return { session: timeoutMs <= 0 || id === 0n ? undefined : { id, password }, timeoutMs };
}

export function ping(): Buffer {
  return new JuteWriter().int(XID.ping).int(OP.ping).packet();
}

export function closing(): Buffer {
  return new JuteWriter().int(0).int(OP.close).packet();
}

/** `auth`: `user:password` of the scheme digest. */
export function authentication(auth: string): Buffer {
  return new JuteWriter().int(XID.auth).int(OP.auth).int(0).text('digest').text(auth).packet();
}

/** Reads set a watch. */
export function requestPacket(xid: number, request: Request): Buffer {
  const packet = new JuteWriter().int(xid).int(OP[request.op]).text(request.path);
  return (request.op === 'sync' ? packet : packet.bool(true)).packet();
}

export function replyOf(packet: Buffer): Reply {
  const body = new JuteReader(packet);
  const xid = body.int();
  const zxid = body.long();
  const error = body.int();
  if (xid === XID.watch) {
    body.int();
    body.int();
    return { kind: 'fired', path: body.text() };
  }
  if (xid === XID.auth && error !== 0) throw new Error(ERRORS[error] ?? `error ${error}`);
  if (xid < 0) return { kind: 'other' };
  if (error === 0) return { kind: 'answer', xid, zxid, body };
  return { kind: 'error', xid, zxid, why: ERRORS[error] ?? `error ${error}`, absent: error === NO_NODE };
}

export const absentNode: NodeData = { absent: true, children: [], data: Buffer.alloc(0), createdMs: 0 };

export function answerOf({ op }: Request, body: JuteReader): NodeData {
  const present = { ...absentNode, absent: false };
  if (op === 'getChildren') return { ...present, children: body.texts() };
  if (op === 'sync') return present;
  const data = op === 'getData' ? Buffer.from(body.buffer()) : present.data;
  body.long();
  body.long();
  return { ...present, data, createdMs: Number(body.long()) };
}
