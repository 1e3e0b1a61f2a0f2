// Law 1 across machines, versions of Node and time: a committed history comes to the committed hashes, wherever it is
// folded.
//
// A hash that differs after a change of the engine is either a mistake or that change itself: it names the part that
// differs. When it is meant, `PERIPLUS_UPDATE_GOLDENS=1 npx vitest run test/property/law-1-golden.test.ts` writes the
// new ones, and the diff is reviewed.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json } from '../../src/core/base/json.ts';
import type { Event } from '../../src/core/event.ts';
import { stateHash } from '../../src/offline/load-state.ts';
import { ECDS } from '../../src/xds/session/types.ts';
import { foldAll } from './folding.ts';
import { allHoldings } from './holdings.ts';

const FOLDER = join(import.meta.dirname, 'golden');
const HISTORY = join(FOLDER, 'history.jsonl');
const HASHES = join(FOLDER, 'hashes.json');

interface Hashes {
  readonly state: string;
  readonly effects: string;
  /** Connection → type URL → digest of all that is held, as in receipts. */
  readonly resources: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

function history(): readonly Event[] {
  const lines = readFileSync(HISTORY, 'utf8').trimEnd().split('\n');
  return lines.map(line => JSON.parse(line) as Event);
}

function hashesOf(events: readonly Event[]): Hashes {
  const { state, effects, failures } = foldAll(events);
  expect(failures).toEqual([]);
  const resources = [...allHoldings(state)].map(([connection, holdings]) => {
    const digests = [...holdings].map(([typeUrl, { digest }]) => [typeUrl, digest] as const);
    return [connection, Object.fromEntries(digests)] as const;
  });
  return {
    state: stateHash(state),
    effects: createHash('sha256')
      .update(canonicalJson(effects as unknown as Json))
      .digest('hex'),
    resources: Object.fromEntries(resources),
  };
}

describe('law 1: replay on another machine', () => {
  it('gives the committed hashes for the committed history', () => {
    const hashes = hashesOf(history());
    if (process.env.PERIPLUS_UPDATE_GOLDENS === '1') writeFileSync(HASHES, `${JSON.stringify(hashes, undefined, 2)}\n`);
    expect(hashes, 'if the change is meant: PERIPLUS_UPDATE_GOLDENS=1, see the head of this file').toEqual(
      JSON.parse(readFileSync(HASHES, 'utf8')),
    );
  });

  it('covers every proxy, with clusters, endpoints, listeners and routes', () => {
    const { state } = foldAll(history());
    const all = allHoldings(state);
    expect(all.size).toBe(5);
    for (const holdings of all.values()) {
      for (const [typeUrl, set] of holdings) if (typeUrl !== ECDS) expect(set.size).toBeGreaterThan(0);
    }
  });

  it('canary: gives other hashes without any one of some events', () => {
    const events = history();
    const whole = canonicalJson(hashesOf(events) as unknown as Json);
    for (let i = 0; i < events.length; i += 20) {
      const less = hashesOf([...events.slice(0, i), ...events.slice(i + 1)]);
      expect(canonicalJson(less as unknown as Json)).not.toBe(whole);
    }
  });
});
