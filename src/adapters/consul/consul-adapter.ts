// The services of a Consul datacenter: the source `consul/<datacenter>`. One blocking query watches the names, and one
// a service watches its instances with their health; each has its own pace, index and backoff.
//
// Nothing is deleted because a question failed, or because the token may not see something: a list that was filtered by
// ACLs is not complete, whatever it holds. The token is in a request header and nowhere else.

import type { Json } from '../../core/base/json.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { backoffMs } from '../kit/backoff.ts';
import { Catalogue } from '../kit/catalogue.ts';
import { type Chance, sleep } from '../kit/clock.ts';
import { type ClientTls, getJson, type JsonAnswer, type JsonRequest } from '../kit/http-json.ts';
import { freshPace, paced } from '../kit/pace.ts';
import { PartLoops } from '../kit/part-loops.ts';
import { Turns } from '../kit/turns.ts';
import { heard } from './blocking.ts';
import * as limits from './limits.ts';
import { namesIn, serviceOf } from './service.ts';

export interface ConsulOptions {
  /** Of an agent or a server, e.g. `http://127.0.0.1:8500`. */
  readonly url: string;
  /** Absent: that of the agent. */
  readonly datacenter?: string;
  /** Of the objects that services become. */
  readonly namespace: string;
  /** Consul Enterprise. */
  readonly consulNamespace?: string;
  readonly partition?: string;
  /** The ACL token; read before each request, so that it can be rotated. */
  readonly token?: () => Promise<string>;
  readonly tls?: ClientTls;
  readonly network?: string;
  readonly holdMs?: number;
  readonly chance: Chance;
  readonly log: AdapterLog;
}

const CATALOGUE = '/v1/catalog/services';

interface ConsulAnswer extends JsonAnswer {
  /** The question carried no token. */
  readonly isAnonymous: boolean;
}

/** What one query watches. */
interface Watch {
  readonly path: string;
  readonly signal: AbortSignal;
  /** The answer is complete: nothing was filtered. A string: it has another shape. */
  readonly take: (body: Json | undefined) => string | undefined;
  /** Of an answer that was filtered: what it does say. */
  readonly takeFiltered?: (body: Json | undefined) => void;
  readonly failed: (why: string) => void;
}

export class ConsulAdapter implements Adapter {
  readonly source: string;
  readonly mayBeLate = true;
  readonly #options: ConsulOptions;
  readonly #catalogue: Catalogue;
  readonly #loops = new PartLoops();
  readonly #turns = new Turns(limits.QUESTIONS_MAX);

  constructor(options: ConsulOptions) {
    this.#options = options;
    this.source = `consul/${options.datacenter ?? 'local'}`;
    const { namespace, holdMs, chance, log } = options;
    this.#catalogue = new Catalogue({ registry: 'consul', source: this.source, namespace, holdMs, chance, log });
  }

  /** Resolves when every service has been asked for once; before an agent answers, never. */
  async start(sink: Sink): Promise<void> {
    await this.#watchNames();
    await this.#loops.partsTried();
    if (this.#loops.isStopped) throw new Error('stopped before Consul was listed');
    await this.#catalogue.open(sink);
  }

  async stop(): Promise<void> {
    this.#loops.stop();
    await this.#loops.ended();
    await this.#catalogue.close();
  }

  status(): SourceStatus {
    return this.#catalogue.status();
  }

  /** Resolves with the first answer. */
  #watchNames(): Promise<void> {
    return this.#loops.begin((signal, tried) =>
      this.#loop({
        path: CATALOGUE,
        signal,
        take: body => {
          const names = namesIn(body);
          if (names === undefined) return 'the answer is not a list of services';
          this.#follow(names, true);
          tried();
          return undefined;
        },
        takeFiltered: body => {
          this.#follow(namesIn(body) ?? [], false);
          tried();
        },
        failed: why => this.#catalogue.failed('', why),
      }),
    );
  }

  #follow(all: readonly string[], isComplete: boolean): void {
    const names = new Set(all.slice(0, limits.SERVICES_MAX));
    if (isComplete) {
      this.#catalogue.retain(names);
      for (const name of this.#loops.parts) if (!names.has(name)) this.#loops.endPart(name);
    }
    if (all.length > names.size) {
      this.#catalogue.failed('', `there are ${all.length} services; the first ${limits.SERVICES_MAX} by name are read`);
    }
    for (const name of names) if (!this.#loops.has(name)) this.#watchService(name);
  }

  #watchService(name: string): void {
    this.#loops.beginPart(name, (signal, tried) =>
      this.#loop({
        path: `/v1/health/service/${encodeURIComponent(name)}`,
        signal,
        take: body => {
          const { network } = this.#options;
          const service = serviceOf(name, body, { domain: 'service.consul', network });
          if (typeof service === 'string') return service;
          this.#catalogue.set(name, service === undefined ? [] : [service]);
          tried();
          return undefined;
        },
        failed: why => {
          this.#catalogue.failed(name, why);
          tried();
        },
      }),
    );
  }

  async #loop({ path, signal, take, takeFiltered, failed }: Watch): Promise<void> {
    const { chance } = this.#options;
    let index = 0;
    let failures = 0;
    let pace = freshPace(chance.now());
    while (!signal.aborted) {
      const turn = paced(pace, chance.now());
      pace = turn.pace;
      if (turn.waitMs > 0) await sleep(chance, turn.waitMs, signal);
      const answer = await this.#ask(path, index, signal).catch((error: unknown) => String((error as Error).message));
      if (signal.aborted) return;
      const why = typeof answer === 'string' ? answer : whyNot(answer);
      let trouble = why;
      if (typeof answer !== 'string' && why === undefined) {
        const { next, isCurrent } = heard(index, headerOf(answer, 'x-consul-index'));
        index = next;
        if (isFiltered(answer, path)) {
          takeFiltered?.(answer.body);
          failed('the ACL token may not see all of it');
        } else if (isCurrent) trouble = take(answer.body);
      }
      failures = trouble === undefined ? 0 : failures + 1;
      if (trouble === undefined) continue;
      failed(trouble);
      index = 0;
      const bounds = { minMs: limits.RETRY_MS_MIN, maxMs: limits.RETRY_MS_MAX };
      await sleep(chance, backoffMs(failures, chance.random(), bounds), signal);
    }
  }

  async #ask(path: string, index: number, signal: AbortSignal): Promise<ConsulAnswer> {
    const { url, datacenter, consulNamespace, partition, token, tls } = this.#options;
    const asked = new URL(path, url);
    const parameters = { dc: datacenter, ns: consulNamespace, partition };
    for (const [key, value] of Object.entries(parameters)) if (value) asked.searchParams.set(key, value);
    if (index > 0) {
      asked.searchParams.set('index', String(index));
      asked.searchParams.set('wait', `${limits.WAIT_MS / 1_000}s`);
    }
    const secret = (await token?.()) ?? '';
    const request: JsonRequest = {
      ...(secret === '' ? {} : { headers: { 'x-consul-token': secret } }),
      timeoutMs: index > 0 ? limits.BLOCKING_MS_MAX : limits.ANSWER_MS_MAX,
      bodyBytesMax: limits.BODY_BYTES_MAX,
      signal,
      tls,
    };
    const answer = await (index > 0 ? getJson(asked, request) : this.#turns.run(() => getJson(asked, request)));
    return { ...answer, isAnonymous: secret === '' };
  }
}

/** Why an answer cannot be used. */
function whyNot(answer: ConsulAnswer): string | undefined {
  if (answer.body === undefined) return `status ${answer.status}${answer.text === '' ? '' : `: ${answer.text.trim()}`}`;
  // Answers of the streaming backend never know a leader; of stale ones it means that they may be old.
  const isStale = headerOf(answer, 'x-consul-effective-consistency') === 'stale';
  const isLeaderless = isStale && headerOf(answer, 'x-consul-knownleader') === 'false';
  return isLeaderless ? 'the servers have no leader' : undefined;
}

/**
 * Consul says whether a token hides something, but not to those who send none: where the default policy denies, their
 * list of names is not complete and an empty list of instances is no answer.
 */
function isFiltered(answer: ConsulAnswer, path: string): boolean {
  if (headerOf(answer, 'x-consul-results-filtered-by-acls') === 'true') return true;
  if (!answer.isAnonymous || headerOf(answer, 'x-consul-default-acl-policy') !== 'deny') return false;
  return path === CATALOGUE || (Array.isArray(answer.body) && answer.body.length === 0);
}

function headerOf({ headers }: JsonAnswer, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
