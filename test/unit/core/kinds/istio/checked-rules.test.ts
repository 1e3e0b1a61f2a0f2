// The stand-in of a refused policy, made of the rules that the verdict has checked.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { authorizationPolicy } from '../../../../../src/core/kinds/istio/authorization-policy.ts';

const sound = { to: [{ operation: { paths: ['/a'] } }] };
const unsound = { to: [{ operation: { ports: ['no'] } }] };
const onlyForOthers = { from: [{ source: { principals: ['p'] } }] };

function policy(spec: JsonObject): JsonObject {
  return { apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'p' }, spec };
}

/** The stand-in after the verdict, and with no verdict before. */
function standIns(spec: JsonObject): readonly unknown[] {
  const raw = policy(spec);
  authorizationPolicy.decode(raw);
  return [authorizationPolicy.standIn?.specOf(raw), authorizationPolicy.standIn?.specOf(policy(spec))];
}

function problemsOf(spec: JsonObject): readonly string[] {
  const decoded = authorizationPolicy.decode(policy(spec));
  return decoded._tag === 'Left' ? decoded.left.map(({ path, message }) => `${path}: ${message}`) : [];
}

describe('the stand-in of a refused policy', () => {
  it.each([
    ['DENY', { action: 'DENY', rules: [sound, unsound] }, [sound]],
    ['DENY without a sound rule', { action: 'DENY', rules: [unsound] }, [{}]],
    ['CUSTOM', { action: 'CUSTOM', provider: { name: 'x' }, rules: [onlyForOthers, sound] }, [sound]],
    ['ALLOW', { action: 'ALLOW', rules: [sound, unsound] }, []],
  ])('of action %s is the same after the verdict and without one', (_, spec, rules) => {
    const [after, without] = standIns(spec);
    expect(after).toEqual(without);
    expect(after).toMatchObject({ rules });
  });

  it('leaves out rules past what one policy may repeat of its conditions, in order', () => {
    const from = Array.from({ length: 200 }, (_, i) => ({ source: { namespaces: [`n${i}`] } }));
    const to = Array.from({ length: 200 }, (_, i) => ({ operation: { paths: [`/${i}`] } }));
    const when = (key: string, values: number): JsonObject => ({
      key,
      values: Array.from({ length: values }, (_, i) => `10.0.${i >> 8}.${i & 255}`),
    });
    const rule = (values: number): JsonObject => ({ from, to, when: [when('source.ip', values)] });
    // 200 sources with 300 values each, then 200 operations with 200: 100,000 in all. One more is too many.
    const fits = [rule(300), { to, when: [when('destination.ip', 200)] }];
    const past = { from: from.slice(0, 2), when: [when('source.ip', 1)] };
    // A condition for one source, or for operations of which there is one, is repeated nowhere.
    const free = { from: from.slice(0, 1), to, when: [when('source.ip', 5_000)] };
    const of = (rules: readonly JsonObject[]): JsonObject => ({ action: 'DENY', rules: [...rules, free] });
    expect(problemsOf(of(fits))).toEqual([]);
    expect(problemsOf(of([...fits, past]))).toEqual([
      'spec.rules[2].when: conditions times operations or sources come to 2 values; at most 100000 are allowed in one policy',
    ]);
    for (const standIn of standIns(of([...fits, past]))) {
      expect((standIn as { readonly rules: readonly object[] }).rules).toHaveLength(3);
    }
  });

  it('reads no rule a second time', () => {
    let reads = 0;
    const counted = {
      get to() {
        reads++;
        return unsound.to;
      },
    };
    const raw = policy({ action: 'DENY', rules: [sound, counted] });
    authorizationPolicy.decode(raw);
    const before = reads;
    expect(authorizationPolicy.standIn?.specOf(raw)).toMatchObject({ rules: [sound] });
    expect(reads).toBe(before);
  });

  it('of a policy that shares its rules with one of another action checks them for its own', () => {
    const rules = [onlyForOthers, sound];
    authorizationPolicy.decode(policy({ action: 'DENY', rules }));
    const custom = policy({ action: 'CUSTOM', provider: { name: 'x' }, rules, unknown: 1 });
    authorizationPolicy.decode(custom);
    expect(authorizationPolicy.standIn?.specOf(custom)).toMatchObject({ action: 'CUSTOM', rules: [sound] });
  });
});
