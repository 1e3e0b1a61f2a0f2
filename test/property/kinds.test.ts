// Decoding is total, and the projection of an object says all that decoding reads: whatever the projection leaves out
// cannot matter.

import fc from 'fast-check';
import { isLeft } from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json, type JsonObject } from '../../src/core/base/json.ts';
import type { KindDefinition } from '../../src/core/kinds/definition.ts';
import { decodeMeta, keptMembers } from '../../src/core/kinds/meta.ts';
import { definitionOf, definitions, kindNames } from '../../src/core/kinds/registry.ts';
import { anyObject } from '../../src/testing/objects.ts';
import { parameters } from './seed.ts';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
/** Members that kinds look for, so that arbitrary values get past the first look. */
const members = ['metadata', 'spec', 'status', 'data', 'stringData', 'endpoints', 'ports', 'subsets', 'addressType'];
const junk: fc.Arbitrary<JsonObject> = fc.dictionary(fc.constantFrom(...members), json);
const kind: fc.Arbitrary<KindDefinition> = fc.constantFrom(
  ...kindNames.map((name): KindDefinition => definitions[name]),
);

/** What is outside every projection: what Kubernetes writes by itself. */
const noise = fc.record({
  managedFields: fc.array(fc.object() as fc.Arbitrary<JsonObject>, { maxLength: 2 }),
  generation: fc.nat(),
  selfLink: fc.string(),
  finalizers: fc.array(fc.string(), { maxLength: 2 }),
});

function outcome(definition: KindDefinition, object: JsonObject): string {
  const meta = decodeMeta(object, definition);
  const decoded = definition.decode(object);
  return canonicalJson([
    isLeft(meta) ? 'refused' : (meta.right as unknown as Json),
    isLeft(decoded) ? (decoded.left as unknown as Json) : (decoded.right as unknown as Json),
  ]);
}

/** Holds if decoding never throws and a refusal always says why. */
function totality(definitionsOf: fc.Arbitrary<KindDefinition>): fc.IProperty<[KindDefinition, JsonObject]> {
  return fc.property(definitionsOf, junk, (definition, object) => {
    const decoded = definition.decode(object);
    if (isLeft(decoded)) for (const { message } of decoded.left) expect(message).not.toBe('');
    const projection = definition.project(object);
    expect(definition.project(projection)).toEqual(projection);
  });
}

describe('kinds', () => {
  it('decode and project any JSON', () => {
    fc.assert(totality(kind), parameters(500));
  });
  it('canary: a definition that trusts its input is detected', () => {
    const trusting: KindDefinition = {
      ...definitions.Service,
      decode: object => definitions.Service.decode((object.spec as JsonObject).ports as JsonObject),
    } as KindDefinition;
    expect(fc.check(totality(fc.constant(trusting)), parameters(500)).failed).toBe(true);
  });
  it('decode the projection of an object as the object', () => {
    fc.assert(
      decodedAsProjected(definition => definition),
      parameters(300),
    );
  });
  it('canary: a projection that omits a decoded field is detected', () => {
    const forgetful = (definition: KindDefinition): KindDefinition =>
      ({
        ...definition,
        project: (object: JsonObject) => definition.project({ ...object, spec: undefined }),
      }) as KindDefinition;
    expect(fc.check(decodedAsProjected(forgetful), { numRuns: 300, seed: 1 }).failed).toBe(true);
  });
});

/** Holds if what is outside the projection does not matter, and what is decoded is inside. */
function decodedAsProjected(altered: (definition: KindDefinition) => KindDefinition): fc.IProperty<unknown> {
  return fc.property(anyObject, noise, (object, extra) => {
    const definition = altered(definitionOf(object.apiVersion, object.kind)!);
    const kept = keptMembers(definition.keepMeta, object as never);
    const outside = Object.fromEntries(Object.entries(extra).filter(([member]) => !kept.includes(member)));
    const noisy = { ...object, metadata: { ...(object.metadata as JsonObject), ...outside } };
    expect(definition.project(noisy)).toEqual(definition.project(object));
    expect(outcome(definition, definition.project(noisy))).toBe(outcome(definition, noisy));
  });
}
