// How replicas reach each other: plain messages of NATS beside the stream, on subjects of the mesh. An answer larger
// than a message comes in several, ended by an empty one.

import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { PeerChannel } from '../peers.ts';
import type { NatsLink } from './connection.ts';

/** Of one message of an answer. */
const PART_BYTES = 256 * 1024;
/** A longer answer is cut off, and counts as none. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export class NatsPeers implements PeerChannel {
  readonly #link: NatsLink;
  readonly #prefix: string;
  #closed = false;

  constructor(link: NatsLink, mesh: string) {
    this.#link = link;
    this.#prefix = `periplus.${mesh}`;
  }

  sendBeat(text: string): void {
    void this.#with(nc => {
      // While it is cut off, beats would pile up, to be sent all at once.
      if (!nc.isClosed() && !nc.isDraining()) nc.publish(`${this.#prefix}.beat`, text);
    });
  }

  onBeat(listener: (text: string) => void): void {
    void this.#with(nc => {
      nc.subscribe(`${this.#prefix}.beat`, {
        callback: (error, message) => {
          if (error === null) listener(message.string());
        },
      });
    });
  }

  async ask(id: string, question: string, ms: number): Promise<string | undefined> {
    try {
      const { nc } = await this.#link.connected(ms);
      const parts: Uint8Array[] = [];
      let bytes = 0;
      const options = { strategy: 'sentinel' as const, maxWait: ms };
      for await (const message of await nc.requestMany(`${this.#prefix}.ask.${tokenOf(id)}`, question, options)) {
        if (message.data.length === 0) return Buffer.concat(parts).toString('utf8');
        bytes += message.data.length;
        if (bytes > ANSWER_BYTES_MAX) return undefined;
        parts.push(message.data);
      }
    } catch {
      // Silent, for whatever reason.
    }
    return undefined;
  }

  onQuestion(id: string, answer: (question: string) => Promise<string>): void {
    const respond = async (message: Msg): Promise<void> => {
      const bytes = Buffer.from(await answer(message.string()), 'utf8');
      for (let from = 0; from < bytes.length; from += PART_BYTES) {
        message.respond(bytes.subarray(from, from + PART_BYTES));
      }
      message.respond();
    };
    void this.#with(nc => {
      nc.subscribe(`${this.#prefix}.ask.${tokenOf(id)}`, {
        callback: (error, message) => {
          if (error === null) respond(message).catch(() => undefined);
        },
      });
    });
  }

  close(): void {
    this.#closed = true;
  }

  /** Once there is a connection: subscriptions last over reconnections. */
  async #with(use: (nc: NatsConnection) => void): Promise<void> {
    try {
      const { nc } = await this.#link.connected(FOREVER_MS);
      if (!this.#closed) use(nc);
    } catch {
      // The process is stopping.
    }
  }
}

const FOREVER_MS = 2 ** 31 - 1;

/** As one word of a subject. */
function tokenOf(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, '_');
}
