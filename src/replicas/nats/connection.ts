// The connection to the NATS servers: made in the background and kept for the life of the process, because a replica
// serves from its mirror before the log can be reached.

import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { connect } from '@nats-io/transport-node';
import { type NatsAddress, showNatsAddress } from './address.ts';
import { credentialsIn } from './credentials.ts';

/** A server that does not answer a request in this time counts as out of reach. */
export const ANSWER_MS_MAX = 2_000;
const RECONNECT_MS = 250;
const CONNECT_MS_MAX = 2_000;
const PING_MS = 2_000;
const PINGS_MAX = 2;

export interface NatsOptions {
  readonly address: NatsAddress;
  /** Of this process, as the servers list it. */
  readonly name: string;
  /** PEM file of the roots of the servers' certificates; default: those of Node. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** See credentials.ts. */
  readonly credentialsFile?: string;
  readonly say: (level: 'info' | 'warn' | 'error', message: string) => void;
}

export interface Connected {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
}

export class NatsLink {
  readonly shown: string;
  readonly #options: NatsOptions;
  readonly #connected: Promise<Connected>;
  #open: Connected | undefined;
  #closed = false;

  constructor(options: NatsOptions) {
    this.#options = options;
    this.shown = showNatsAddress(options.address);
    this.#connected = this.#connect();
    this.#connected.catch(() => undefined);
  }

  /** Rejects if there is no connection after `msMax`, or the servers refuse this client. */
  connected(msMax = ANSWER_MS_MAX): Promise<Connected> {
    if (this.#open !== undefined) return Promise.resolve(this.#open);
    return within(this.#connected, msMax, `${this.shown} cannot be reached`);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#open?.nc.close().catch(() => undefined);
  }

  async #connect(): Promise<Connected> {
    const { say } = this.#options;
    const options = connectionOptions(this.#options);
    for (;;) {
      try {
        const nc = await connect(options);
        if (this.#closed) {
          await nc.close();
          throw new Error('closed');
        }
        // No request is sent by making the manager: the log checks what it needs.
        this.#open = { nc, js: jetstream(nc), jsm: await jetstreamManager(nc, { checkAPI: false }) };
        void this.#watch(nc);
        return this.#open;
      } catch (error) {
        if (this.#closed) throw error;
        const why = error instanceof Error ? error.message : String(error);
        say('warn', `${this.shown} cannot be reached (${why}); trying again`);
        await new Promise(resolve => setTimeout(resolve, CONNECT_MS_MAX).unref());
      }
    }
  }

  async #watch(nc: NatsConnection): Promise<void> {
    const { say } = this.#options;
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') say('warn', `the connection to ${status.server} is lost; trying the others`);
      if (status.type === 'reconnect') say('info', `connected to ${status.server}`);
      if (status.type === 'error') say('warn', `${this.shown}: ${status.error.message}`);
    }
  }
}

/** Throws if a file cannot be read. */
function connectionOptions(given: NatsOptions): NodeConnectionOptions {
  const { address, name, caFile, certFile, keyFile, credentialsFile } = given;
  const secured = address.isTls || caFile !== undefined || certFile !== undefined;
  return {
    servers: [...address.servers],
    name,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    timeout: CONNECT_MS_MAX,
    pingInterval: PING_MS,
    maxPingOut: PINGS_MAX,
    // A server that restarts may refuse for a moment what it accepts again later.
    ignoreAuthErrorAbort: true,
    ...(secured ? { tls: { caFile, certFile, keyFile } } : {}),
    ...(credentialsFile === undefined ? {} : { authenticator: credentialsIn(credentialsFile) }),
  };
}

/** Rejects with `why` after `ms`; what is waited for goes on. */
export async function within<T>(promise: Promise<T>, ms: number, why: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(why)), ms);
    timer.unref();
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
