// Law 8 for generation: whatever world is accepted, everything can be generated for every proxy, and what comes out are
// sound messages that can be encoded.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../src/core/event.ts';
import { definitionOf, kindNames } from '../../src/core/kinds/registry.ts';
import { envoyViolations } from '../../src/core/schema/envoy-constraints.ts';
import type { EnvoyMessage } from '../../src/core/schema/envoy-message.ts';
import type { State } from '../../src/core/state.ts';
import { anyFact, numbered, someConnected } from '../../src/testing/facts.ts';
import { soundObject } from '../../src/testing/objects.ts';
import { encodeResource } from '../../src/xds/engine/encode.ts';
import { typeNameOf } from '../../src/xds/proto/any.ts';
import { CDS, ECDS, EDS, LDS, NDS, RDS } from '../../src/xds/session/types.ts';
import { verifyMessage } from '../../src/xds/wire/verify.ts';
import { foldAll } from './folding.ts';
import { freshEngine, type Message, messagesOf } from './holdings.ts';
import { parameters } from './seed.ts';

const SOURCE = 'file/Kubernetes';

/** A mesh that is up: proxies, and many objects with few mistakes. */
const anyWorld: fc.Arbitrary<readonly Unrecorded[]> = fc
  .tuple(
    someConnected,
    fc.array(
      soundObject.map((object): Unrecorded => ({ source: SOURCE, kind: 'Add', object })),
      { minLength: 5, maxLength: 60, size: 'max' },
    ),
    fc.array(anyFact, { maxLength: 10 }),
  )
  .map(([proxies, objects, others]) => [...proxies, ...objects, ...others]);

function stateOf(facts: readonly Unrecorded[]): State {
  return foldAll(numbered(facts)).state;
}

function messagesFor(state: State): readonly Message[] {
  const engine = freshEngine();
  return [...state.proxies.values()].flatMap(proxy => messagesOf(engine, state, proxy));
}

function mistakesIn({ typeUrl, name, message }: Message): readonly string[] {
  return verifyMessage(typeNameOf(typeUrl), message).map(mistake => `${typeNameOf(typeUrl)} ${name}: ${mistake}`);
}

describe('law 8: accepted objects can be generated', () => {
  it('for every proxy, as valid messages that can be encoded, with unique names', () => {
    fc.assert(
      fc.property(anyWorld, facts => {
        const state = stateOf(facts);
        const engine = freshEngine();
        for (const proxy of state.proxies.values()) {
          const messages = messagesOf(engine, state, proxy);
          expect(messages.flatMap(mistakesIn)).toEqual([]);
          for (const { typeUrl, name, message } of messages) encodeResource(typeUrl, name, message);
          const names = messages.map(({ typeUrl, name }) => `${typeUrl} ${name}`);
          expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
        }
      }),
      parameters(60),
    );
  });

  it('without a value that Envoy would refuse, but where a patch puts it', () => {
    const unpatched = (facts: readonly Unrecorded[]): readonly Unrecorded[] =>
      facts.filter(fact => fact.kind !== 'Add' || fact.object.kind !== 'EnvoyFilter');
    fc.assert(
      fc.property(anyWorld, facts => {
        const broken = messagesFor(stateOf(unpatched(facts)))
          // The digest of a module is the agent's to state.
          .filter(({ typeUrl }) => typeUrl !== ECDS)
          .flatMap(({ typeUrl, name, message }) =>
            envoyViolations(typeNameOf(typeUrl), message as EnvoyMessage).map(
              ({ path, message: says }) => `${typeNameOf(typeUrl)} ${name} ${path}: ${says}`,
            ),
          );
        expect(broken).toEqual([]);
      }),
      parameters(40),
    );
  });

  it('census: from worlds of every kind and type, nearly all of which are accepted', () => {
    const objects = fc.sample(soundObject, { numRuns: 4_000, seed: 1 });
    const accepted = objects.filter(
      object => definitionOf(object.apiVersion, object.kind)!.decode(object)._tag === 'Right',
    );
    expect(accepted.length / objects.length).toBeGreaterThan(0.95);
    const met = new Set(accepted.map(({ apiVersion, kind }) => definitionOf(apiVersion, kind)?.kind));
    expect(kindNames.filter(kind => !met.has(kind))).toEqual([]);
    const made = new Set<string>();
    const contents = new Set<string>();
    for (const facts of fc.sample(anyWorld, { numRuns: 20, seed: 1 })) {
      for (const { typeUrl, message } of messagesFor(stateOf(facts))) {
        made.add(typeUrl);
        for (const [, url] of JSON.stringify(message).matchAll(/"@type":"([^"]+)"/g)) contents.add(typeNameOf(url!));
      }
    }
    expect([CDS, EDS, LDS, NDS, RDS].filter(type => !made.has(type))).toEqual([]);
    for (const content of ['HttpConnectionManager', 'TcpProxy', 'HTTPFault', 'Cors', 'UpstreamTlsContext', 'Router']) {
      expect([...contents].filter(name => name.endsWith(`.${content}`))).not.toEqual([]);
    }
  });

  it('canary: a message with a wrong member is found at any depth', () => {
    const [facts] = fc.sample(anyWorld, { numRuns: 1, seed: 1 });
    const cluster = messagesFor(stateOf(facts!)).find(({ typeUrl }) => typeUrl === CDS)!;
    const broken = (change: object): Message => ({ ...cluster, message: { ...cluster.message, ...change } });
    expect(mistakesIn(broken({}))).toEqual([]);
    expect(mistakesIn(broken({ connectTimeot: {} }))).toHaveLength(1);
    expect(mistakesIn(broken({ connectTimeout: { seconds: '1', nanos: 0 } }))).toHaveLength(1);
  });
});
