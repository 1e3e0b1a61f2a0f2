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
