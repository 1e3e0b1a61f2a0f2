// The cases of `npm run bench:turns`: what they claim to be about is in them.

import { describe, expect, it } from 'vitest';
import { allCases, OBJECT_BYTES, type TurnCase } from '../../../bench/turns/cases.ts';
import { pathText } from '../../../bench/turns/fields.ts';
import { kindCases } from '../../../bench/turns/kinds.ts';
import { yamlOf } from '../../../bench/turns/mesh.ts';
import { isObject, type Json, type JsonObject } from '../../../src/core/base/json.ts';
import { definitionOf, definitions, kindNames } from '../../../src/core/kinds/registry.ts';

const SMALL_BYTES = 4_000;
const LARGE_BYTES = 20_000;
const cases = allCases();

/** Of kinds that the control plane records itself: no file and no API server holds them. */
const RECORDED = 'periplus.internal';

function at(json: Json | undefined, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((found, part) => {
    const member = isObject(found) ? found[part.replace(/\[\]|\{\}/, '')] : undefined;
    if (part.endsWith('[]')) return (member as readonly Json[] | undefined)?.at(-1);
    return part.endsWith('{}') && isObject(member) ? Object.values(member).at(-1) : member;
  }, json);
}

function elementsOf(one: TurnCase, objects: readonly JsonObject[]): readonly Json[] {
  const grown = at(objects[0], one.field);
  if (Array.isArray(grown)) return grown as readonly Json[];
  return isObject(grown) ? Object.entries(grown).map(([key, value]) => [key, value ?? null]) : [];
}

describe('the cases of bench:turns', () => {
  it('are there for every kind that a file or a cluster may hold', () => {
    const kinds = kindNames.filter(kind => definitions[kind].group !== RECORDED);
    const covered = new Set(cases.map(({ kind }) => kind));
    expect(kinds.filter(kind => !covered.has(kind))).toEqual([]);
  });

  it('have names of their own', () => {
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  });

  it.each(kindCases.map(({ kind }) => kind))('have a small valid object of %s, and many', kind => {
    const whole = cases.find(one => one.id === `${kind}/*/valid`)!;
    const objects = whole.objects(SMALL_BYTES);
    const [first] = objects;
    expect(definitionOf(first!.apiVersion, first!.kind)?.decode(first as never)).toMatchObject({ _tag: 'Right' });
    expect(objects.length).toBeGreaterThan(1);
  });

  it('reach the lists that are known to multiply', () => {
    const fields = new Set(cases.map(({ kind, field }) => `${kind} ${field}`));
    for (const field of [
      'VirtualService spec.http[].match[].headers',
      'VirtualService spec.hosts+spec.http',
      'ServiceEntry spec.hosts+spec.ports',
      'PeerAuthentication spec.portLevelMtls',
      'EndpointSlice endpoints[].addresses',
      'HTTPRoute spec.rules[].matches',
      'Service metadata.annotations',
    ]) {
      expect(fields).toContain(field);
    }
  });

  it('are of the size that is asked for', () => {
    const wrong = cases.filter(one => {
      if (one.rank > 1) return false;
      if (one.variant === 'deep' || one.variant === 'at-limit') return false;
      const length = yamlOf(one.objects(LARGE_BYTES)).length;
      return length < LARGE_BYTES * 0.85 || length > LARGE_BYTES * 1.15;
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('have elements that differ, where their values can', () => {
    const same = cases.filter(one => {
      if (one.variant !== 'valid' || one.field === '*' || one.field.includes('+')) return false;
      const elements = elementsOf(one, one.objects(SMALL_BYTES)).map(element => JSON.stringify(element));
      return elements.length > 2 && new Set(elements).size < elements.length;
    });
    expect(same.map(({ id }) => id).filter(id => !/[mM]ethods|codes/.test(id))).toEqual([]);
  });

  it('with wrong values are wrong', () => {
    const field = cases.filter(({ variant, kind }) => variant === 'wrong-type' && kind === 'VirtualService');
    const accepted = field.filter(one => {
      const [first] = one.objects(SMALL_BYTES);
      return definitionOf(first!.apiVersion, first!.kind)?.decode(first as never)._tag === 'Right';
    });
    expect(accepted.map(({ id }) => id).filter(id => !id.includes('/metadata.') && !id.includes('/status.'))).toEqual(
      [],
    );
  });

  it('come near the size of the largest object', () => {
    const one = cases.find(({ id }) => id === 'VirtualService/spec.hosts/valid')!;
    const { length } = JSON.stringify(one.objects(OBJECT_BYTES)[0]);
    expect(Math.abs(length - OBJECT_BYTES)).toBeLessThan(OBJECT_BYTES / 20);
  });
});

describe('a path of a field', () => {
  it('is written with its lists and maps', () => {
    expect(pathText(['spec', 'http', '[]', 'headers', '{}'])).toBe('spec.http[].headers{}');
  });
});
