// Over arbitrary policies: what the oracle says of generated configuration is what the Istio API says of
// AuthorizationPolicy and RequestAuthentication, with the rule that decided.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProxyConfig } from '../../src/oracle/question.ts';
import { judgePolicies, policyConfig } from './mesh/policy-judge.ts';
import { policyInquiry } from './mesh/policy-world.ts';
import { parameters } from './seed.ts';

const FIXED_SEED = 11;
const fixed = fc.sample(policyInquiry, { numRuns: 100, seed: FIXED_SEED });
const configs = fixed.map(policyConfig);

describe('requests and connections that policies decide about', () => {
  it('pass or are refused as the API says, by the rule that it says', () => {
    fc.assert(
      fc.property(policyInquiry, inquiry => {
        expect(judgePolicies(inquiry, policyConfig(inquiry)).different).toEqual([]);
      }),
      parameters(60),
    );
  });

  it('meet every kind of verdict (census)', () => {
    const kinds = new Set(fixed.flatMap((inquiry, i) => judgePolicies(inquiry, configs[i]!).kinds));
    const both = (kind: string): readonly string[] => [`http ${kind}`, `tcp ${kind}`];
    const wanted = ['passes', 'allow', 'deny', 'authorizer', 'authorizer open', 'deny istio-ext-authz-unknown'];
    expect([...kinds]).toEqual(expect.arrayContaining([...wanted.flatMap(both), 'http token']));
  });
});

/** The configuration with its text changed: what a generator that errs would have made. */
function edited(config: ProxyConfig, change: (text: string) => string): ProxyConfig {
  return { ...config, listeners: JSON.parse(change(JSON.stringify(config.listeners))) as ProxyConfig['listeners'] };
}

describe('a generator that errs is caught (canaries)', () => {
  const mutations: Readonly<Record<string, (text: string) => string>> = {
    'names unquoted in patterns': text => text.replaceAll('\\\\.', '.'),
    'negations forgotten': text => text.replaceAll('"notId":', '"ignored":').replaceAll('"notRule":', '"ignored":'),
    'the raw path matched': text => text.replaceAll('"urlPath":{"path":', '"header":{"name":":path","stringMatch":'),
    'hosts compared with case': text => text.replaceAll('"ignoreCase":true', '"ignoreCase":false'),
    'dry-run enforced': text => text.replaceAll('"shadowRules":', '"rules":'),
    'empty sets of rules dropped': text => text.replaceAll('"rules":{}', '"ignored":{}'),
    'tokens not checked': text => text.replaceAll('"issuer":', '"ignored":'),
    'the peer taken for the client': text => text.replaceAll('"remoteIp":', '"directRemoteIp":'),
  };
  it.each(Object.keys(mutations))('%s', name => {
    const isCaught = fixed.some((inquiry, i) => {
      try {
        return judgePolicies(inquiry, edited(configs[i]!, mutations[name]!)).different.length > 0;
      } catch {
        return true;
      }
    });
    expect(isCaught).toBe(true);
  });
});
