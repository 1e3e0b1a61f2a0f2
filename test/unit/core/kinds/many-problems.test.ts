// An object may have a mistake in each of half a million elements: the report ends after some, and so does the search.

import { isLeft } from 'fp-ts/lib/Either.js';
import { describe, expect, it, vi } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import { definitions } from '../../../../src/core/kinds/registry.ts';
import { checked } from '../../../../src/core/kinds/report.ts';
import { type Constraint, checkConstraint } from '../../../../src/core/schema/constraints.ts';
import { PROBLEMS_MAX } from '../../../../src/core/schema/decode.ts';
import { asStored } from '../../../../src/core/schema/defaults.ts';

const ELEMENTS = 20_000;

/** A list that counts how often one of its elements is read. */
function counted(element: Json): { readonly list: Json; readonly reads: () => number } {
  let reads = 0;
  const list = new Proxy(Array<Json>(ELEMENTS).fill(element), {
    get: (target, key) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key) as unknown;
    },
  });
  return { list, reads: () => reads };
}

const policy = (rules: Json): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name: 'p', namespace: 'ns' },
  spec: { rules },
});

describe('an object with thousands of mistakes', () => {
  it('is decoded as far as its report goes', () => {
    const { list, reads } = counted(null);
    const decoded = definitions.AuthorizationPolicy.decode(policy(list));
    expect(isLeft(decoded) && decoded.left.at(-1)?.message).toBe('there are more problems');
    expect(reads()).toBeLessThan(3 * PROBLEMS_MAX);
  });

  it('is checked by its rules as far as its report goes', () => {
    let checks = 0;
    const found = checked({}, (_, report) => {
      for (let i = 0; i < ELEMENTS; i++) {
        checks++;
        report(`[${i}]`, 'is wrong');
      }
    });
    expect(isLeft(found) && found.left).toHaveLength(PROBLEMS_MAX);
    expect(checks).toBe(PROBLEMS_MAX + 1);
  });

  it('is checked by the constraints of its CRD as far as its report goes', () => {
    const { list, reads } = counted('wrong');
    const found = checked(list, (value, report) =>
      checkConstraint({ type: 'array', items: { type: 'integer' } }, value, 'spec', report),
    );
    expect(isLeft(found) && found.left).toHaveLength(PROBLEMS_MAX);
    expect(reads()).toBeLessThan(3 * PROBLEMS_MAX);
  });

  it.each<[string, (contents: Json) => JsonObject]>([
    ['spec.rules', rules => ({ rules })],
    ['spec.rules[0].matches', matches => ({ rules: [{ matches }] })],
  ])('is refused for its number of %s, which are neither defaulted nor judged', (path, spec) => {
    const { list, reads } = counted({});
    const decoded = definitions.HTTPRoute.decode({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'r', namespace: 'ns' },
      spec: spec(list),
    });
    expect(isLeft(decoded) && decoded.left.map(problem => problem.path)).toEqual([path]);
    expect(reads()).toBe(0);
  });

  it('is refused for its number of keys, of which no rule is asked', () => {
    const values: Constraint = { type: 'string', minLength: 1 };
    const limited: Constraint = { type: 'object', maxProperties: 1, rules: ['keysNotEmpty'], values };
    const found: string[] = [];
    checkConstraint(limited, { '': '', a: '' }, 'spec', (path, message) => found.push(`${path}: ${message}`));
    expect(found).toEqual(['spec: is 2 members; at most 1 allowed']);
    expect(Object.keys(asStored(limited, { b: '', a: '' }) as JsonObject)).toEqual(['b', 'a']);
  });

  it('throws what is no end of a report', () => {
    expect(() =>
      checked({}, () => {
        throw new Error('a mistake of ours');
      }),
    ).toThrow('a mistake of ours');
  });
});

describe('the data of a Secret', () => {
  it('is what was decoded, however many keys it has', () => {
    const data = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${9_999 - i}`, 'eA==']));
    const entries = vi.spyOn(Object, 'entries');
    const decoded = definitions.Secret.decode({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data });
    expect(entries).not.toHaveBeenCalledWith(expect.objectContaining({ k9000: 'eA==' }));
    entries.mockRestore();
    const keys = isLeft(decoded) ? [] : Object.keys(decoded.right.data);
    expect(keys).toEqual([...keys].sort());
    expect(keys).toHaveLength(1_000);
  });
});

describe('the shares of a locality', () => {
  it('of more targets than weights can be are not compared', () => {
    const to = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [i === 0 ? 'a/b' : `r${i}/*x`, 1]));
    const decoded = definitions.DestinationRule.decode({
      apiVersion: 'networking.istio.io/v1',
      kind: 'DestinationRule',
      metadata: { name: 'd', namespace: 'ns' },
      spec: {
        host: 'a.b.svc.cluster.local',
        trafficPolicy: { loadBalancer: { localityLbSetting: { distribute: [{ from: 'a/*', to }] } } },
      },
    });
    expect(isLeft(decoded) && decoded.left.map(({ message }) => message)).toEqual([
      'the weights sum up to 101; expected 100',
    ]);
  });
});
