// Reads and runs a protocol scenario. One file: an optional `# title`, then lines. What the client does and what
// happens to the mesh:
//   protocol sotw|delta            first line that is not a comment
//   set CDS a=1 b=2                what generation has of the type from now on (nothing after the type: an empty set)
//   push                           a push reaches the client
//   > CDS names a b [nonce N]      SotW request; N: `none` (default), `last`, or a number (the n-th response of the stream)
//   > CDS sub a unsub b initial c=1 [nonce N]    delta request, every part optional
//   > CDS ack [N]                  ACK of the last response of the type, or of the n-th of the stream, with the names as they are
//   > CDS nack [N] message…        NACK of the same
//   slow / reads                   the client stops / goes on reading: responses are written, the callback waits
//   timeout                        the wait for an answer is over
//   reconnect                      a new stream; what the client holds is for the scenario to say
// and what has to come out of the last such line, in order and completely:
//   < CDS a=1 b=2 -c               a response: resources with versions, `-name` removed; `< CDS` alone is an empty one
//   < subscribed CDS +a -b [wildcard]    the fact
//   < nacked CDS blames a b        `blames nobody` if none
//   < waits                        listeners and routes wait for the answer to the clusters
//   < expired CDS   < settled   < debug TYPE names   < closed CODE
// Types are short names; `-x` that nothing answers is written `< nothing`, which is the default.

import type { SessionEffect } from '../../src/xds/session/session.ts';
import * as types from '../../src/xds/session/types.ts';
import { World } from './world.ts';

export interface Mismatch {
  readonly line: number;
  readonly after: string;
  readonly expected: readonly string[];
  readonly actual: readonly string[];
}

const urls: Readonly<Record<string, string>> = {
  CDS: types.CDS,
  EDS: types.EDS,
  LDS: types.LDS,
  RDS: types.RDS,
  SDS: types.SDS,
  ECDS: types.ECDS,
  NDS: types.NDS,
  HEALTH: types.HEALTH,
};
const shorts = new Map(Object.entries(urls).map(([short, url]) => [url, short] as const));
const urlOf = (word: string): string => urls[word] ?? word;
const shortOf = (url: string): string => shorts.get(url) ?? url;

/** Every line whose outcome differs; empty: the scenario holds. Throws on a line that cannot be read. */
export function runScenario(text: string): readonly Mismatch[] {
  const runner = new Runner();
  const mismatches: Mismatch[] = [];
  let open: { line: number; after: string; expected: string[]; actual: readonly string[] } | undefined;
  const settle = (): void => {
    if (open !== undefined && open.expected.join('\n') !== open.actual.join('\n')) mismatches.push(open);
    open = undefined;
  };
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/\s+#.*$/, '').trim();
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('< ')) {
      if (open === undefined) throw new Error(`line ${index + 1}: nothing happened yet`);
      if (line !== '< nothing') open.expected.push(line.slice(2));
      continue;
    }
    settle();
    open = { line: index + 1, after: line, expected: [], actual: runner.run(line) };
  }
  settle();
  return mismatches;
}

class Runner {
  #world: World | undefined;
  #slow = false;
  #waiting = 0;
  #waits = '';
  #streams = 0;
  readonly #nonces: string[] = [];
  readonly #last = new Map<string, string>();

  run(line: string): readonly string[] {
    const words = line.split(/\s+/);
    switch (words[0]) {
      case 'protocol':
        if (words[1] !== 'sotw' && words[1] !== 'delta') throw new Error(`protocol ${words[1]}`);
        this.#world = new World(words[1], new Map());
        return [];
      case 'set':
        this.#now.config.set(urlOf(words[1]!), pairs(words.slice(2)));
        this.#now.changed();
        return [];
      case 'push':
        return this.#do({ kind: 'Push' });
      case 'timeout':
        return this.#do({ kind: 'CdsWaitOver', nonce: this.#waits });
      case 'slow':
        this.#slow = true;
        return [];
      case 'reads':
        this.#slow = false;
        return this.#drain([]);
      case 'reconnect':
        this.#world = new World(this.#now.session.protocol, this.#now.config, `s${++this.#streams}`);
        this.#waiting = 0;
        this.#nonces.length = 0;
        this.#last.clear();
        return [];
      case '>':
        return this.#request(words.slice(1));
      default:
        throw new Error(`cannot read: ${line}`);
    }
  }

  get #now(): World {
    if (this.#world === undefined) throw new Error('the first line has to be: protocol sotw|delta');
    return this.#world;
  }

  #do(input: Parameters<World['input']>[0]): readonly string[] {
    return this.#drain(this.#now.input(input));
  }

  #drain(effects: readonly SessionEffect[]): readonly string[] {
    const shown: string[] = [];
    let todo = [...effects];
    for (;;) {
      for (const effect of todo) {
        if (effect.kind === 'Respond') {
          this.#waiting++;
          this.#nonces.push(effect.nonce);
          this.#last.set(effect.typeUrl, effect.nonce);
        }
        const text = this.#show(effect);
        if (text !== undefined) shown.push(text);
      }
      if (this.#slow || this.#waiting === 0) return shown;
      this.#waiting--;
      todo = this.#now.input({ kind: 'Sent' });
    }
  }

  #show(effect: SessionEffect): string | undefined {
    switch (effect.kind) {
      case 'Respond': {
        const set = this.#now.evaluated.sets.get(effect.typeUrl);
        const resources = effect.names.map(name => `${name}=${set?.get(name) ?? '?'}`);
        return join(shortOf(effect.typeUrl), ...resources, ...effect.removed.map(name => `-${name}`));
      }
      case 'Subscribed':
        return join(
          'subscribed',
          shortOf(effect.typeUrl),
          ...effect.subscribe.map(name => `+${name}`),
          ...effect.unsubscribe.map(name => `-${name}`),
          effect.wildcard ? 'wildcard' : '',
        );
      case 'Nacked':
        return join(
          'nacked',
          shortOf(effect.typeUrl),
          'blames',
          ...(effect.blamed.length > 0 ? effect.blamed : ['nobody']),
        );
      case 'Expired':
        return join('expired', shortOf(effect.typeUrl));
      case 'Debug':
        return join('debug', effect.typeUrl, ...effect.names);
      case 'AwaitCdsAck':
        this.#waits = effect.nonce;
        return 'waits';
      case 'Settled':
        return 'settled';
      case 'Close':
        return join('closed', effect.code);
      default:
        return undefined;
    }
  }

  #request(words: readonly string[]): readonly string[] {
    const typeUrl = urlOf(words[0]!);
    const verb = words[1];
    if (verb === 'ack' || verb === 'nack') {
      const numbered = /^[0-9]+$/.test(words[2] ?? '');
      const nonce = this.#nonce(typeUrl, numbered ? words[2]! : 'last');
      const error = verb === 'nack' ? words.slice(numbered ? 3 : 2).join(' ') : undefined;
      const watch = this.#now.session.watches.get(typeUrl);
      const names = [...(watch?.names ?? [])];
      return this.#send(typeUrl, { names, nonce, error });
    }
    const parts: Record<string, string[]> = {};
    let part: string[] = [];
    for (const word of words.slice(1)) {
      if (['names', 'sub', 'unsub', 'initial', 'nonce'].includes(word)) {
        part = [];
        parts[word] = part;
      } else part.push(word);
    }
    const nonce = this.#nonce(typeUrl, parts.nonce?.[0] ?? 'none');
    return this.#send(typeUrl, { ...parts, nonce, initial: pairs(parts.initial ?? []) });
  }

  #send(typeUrl: string, { names, sub, unsub, initial, nonce, error }: Sending): readonly string[] {
    const request =
      this.#now.session.protocol === 'sotw'
        ? { protocol: 'sotw' as const, typeUrl, names: names ?? [], nonce, error }
        : {
            protocol: 'delta' as const,
            typeUrl,
            subscribe: sub ?? [],
            unsubscribe: unsub ?? [],
            initial: initial ?? new Map<string, string>(),
            nonce,
            error,
          };
    return this.#do({ kind: 'Request', request });
  }

  #nonce(typeUrl: string, word: string): string {
    if (word === 'none') return '';
    if (word === 'last') return this.#last.get(typeUrl) ?? 'never-sent';
    return this.#nonces[Number(word) - 1] ?? 'never-sent';
  }
}

interface Sending {
  readonly names?: readonly string[];
  readonly sub?: readonly string[];
  readonly unsub?: readonly string[];
  readonly initial?: ReadonlyMap<string, string>;
  readonly nonce: string;
  readonly error?: string | undefined;
}

function pairs(words: readonly string[]): Map<string, string> {
  return new Map(words.map(word => word.split('=') as [string, string]));
}

function join(...words: readonly string[]): string {
  return words.filter(word => word !== '').join(' ');
}
