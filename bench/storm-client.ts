// A client of a storm: watches what a sidecar watches, accepts everything at once, and counts. It costs next to nothing, so that what is measured
// is the server: responses are not decoded, only walked through for their type and nonce.

import type { JsonObject } from '../src/core/base/json.ts';
import type { AdsStream } from '../src/xds/serve/stream.ts';
import type { Transport } from '../src/xds/serve/transport.ts';
import type { ClientRequest } from '../src/xds/session/session.ts';
import { CDS, EDS, LDS, RDS } from '../src/xds/session/types.ts';

const TYPE_URL = 4;
const NONCE = 5;

export interface Counts {
  responses: number;
  bytes: number;
}

export class StormClient implements Transport {
  readonly #counts: Counts;
  readonly #node: JsonObject;
  readonly #endpoints: readonly string[];
  readonly #routes: readonly string[];
  #stream: AdsStream | undefined;

  constructor(counts: Counts, node: JsonObject, endpoints: readonly string[], routes: readonly string[]) {
    this.#counts = counts;
    this.#node = node;
    this.#endpoints = endpoints;
    this.#routes = routes;
  }

  open(stream: AdsStream | undefined): void {
    if (stream === undefined) throw new Error('the storm was refused its stream');
    this.#stream = stream;
    this.#ask(CDS, [], '', this.#node);
    this.#ask(EDS, this.#endpoints, '');
    this.#ask(LDS, [], '');
    this.#ask(RDS, this.#routes, '');
  }

  send(message: Buffer, done: (error?: Error | null) => void): void {
    this.sendPieces([message], done);
  }

  sendPieces(pieces: readonly Buffer[], done: (error?: Error | null) => void): void {
    this.#counts.responses++;
    for (const piece of pieces) this.#counts.bytes += piece.length;
    const fields = new Map(pieces.flatMap(piece => [...topLevel(piece)]));
    queueMicrotask(() => {
      done();
      this.#ask(fields.get(TYPE_URL) ?? '', [], fields.get(NONCE) ?? '');
    });
  }

  end(code: string, message: string): void {
    if (code !== 'UNAVAILABLE') throw new Error(`the storm lost a stream: ${code} ${message}`);
  }

  pause(): void {}
  resume(): void {}

  #ask(typeUrl: string, subscribe: readonly string[], nonce: string, node?: JsonObject): void {
    const request: ClientRequest = {
      protocol: 'delta',
      typeUrl,
      subscribe,
      unsubscribe: [],
      initial: new Map(),
      nonce,
    };
    this.#stream?.receive({ node, request });
  }
}

/** Type and nonce of an encoded response; everything in it is length-delimited. */
function* topLevel(bytes: Buffer): Iterable<readonly [number, string]> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const field = varint() >> 3;
    const length = varint();
    if (field === TYPE_URL || field === NONCE) yield [field, bytes.toString('utf8', at, at + length)];
    at += length;
  }
}
