// Writes nodes to a ZooKeeper for tests: create (ephemeral or not), delete and set, on a connection of its own whose
// end can leave the session to expire. The adapter's own client reads only.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { JuteReader, JuteWriter } from '../../../src/adapters/zookeeper/jute.ts';
import { noSession, opening } from '../../../src/adapters/zookeeper/packets.ts';
import { packetsOf } from '../../../src/adapters/zookeeper/session.ts';

const OP = { create: 1, delete: 2, setData: 5, close: -11 } as const;
const NODE_EXISTS = -110;
const NO_NODE = -101;
const ALL_PERMISSIONS = 31;
const EPHEMERAL = 1;

export class WritingClient {
  readonly #socket: Socket;
  readonly #replies: ((error: number) => void)[] = [];
  #xid = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async connect(port: number, timeoutMs = 4_000): Promise<WritingClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const client = new WritingClient(socket);
    let isOpen = false;
    const opened = new Promise<void>(resolve => {
      const packets = packetsOf(packet => {
        if (!isOpen) {
          isOpen = true;
          resolve();
          return;
        }
        const reader = new JuteReader(packet);
        if (reader.int() < 0) return;
        reader.long();
        client.#replies.shift()?.(reader.int());
      });
      socket.on('data', packets);
      socket.on('error', () => undefined);
    });
    socket.write(opening(0n, timeoutMs, noSession));
    await opened;
    return client;
  }

  /** With the folders above it. An existing node gets the data. */
  async put(path: string, data = '', isEphemeral = false): Promise<void> {
    for (let end = path.indexOf('/', 1); end > 0; end = path.indexOf('/', end + 1)) {
      await this.#create(path.slice(0, end), '', false);
    }
    if ((await this.#create(path, data, isEphemeral)) !== NODE_EXISTS) return;
    await this.#ask(OP.setData, writer => writer.text(path).text(data).int(-1), []);
  }

  async remove(path: string): Promise<void> {
    await this.#ask(OP.delete, writer => writer.text(path).int(-1), [NO_NODE]);
  }

  /** Ends the session: its ephemeral nodes go at once. */
  close(): void {
    this.#socket.end(new JuteWriter().int(0).int(OP.close).packet());
  }

  /** Leaves the session to expire. */
  vanish(): void {
    this.#socket.destroy();
  }

  #create(path: string, data: string, isEphemeral: boolean): Promise<number> {
    const body = (writer: JuteWriter): JuteWriter =>
      writer
        .text(path)
        .text(data)
        .int(1)
        .int(ALL_PERMISSIONS)
        .text('world')
        .text('anyone')
        .int(isEphemeral ? EPHEMERAL : 0);
    return this.#ask(OP.create, body, [NODE_EXISTS]);
  }

  async #ask(op: number, body: (writer: JuteWriter) => JuteWriter, allowed: readonly number[]): Promise<number> {
    const replied = new Promise<number>(resolve => this.#replies.push(resolve));
    this.#socket.write(body(new JuteWriter().int(++this.#xid).int(op)).packet());
    const error = await replied;
    if (error !== 0 && !allowed.includes(error)) throw new Error(`operation ${op} failed with ${error}`);
    return error;
  }
}
