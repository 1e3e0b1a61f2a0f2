// Providers of MeshConfig that cannot be used as external authorizers although their service is there.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { externalAuthorizer } from '../../../../../src/core/select/policy/external-authorizer.ts';
import { ask, world } from '../../../world.ts';

const entry: JsonObject = {
  apiVersion: 'networking.istio.io/v1',
  kind: 'ServiceEntry',
  metadata: { name: 'authz', namespace: 'auth' },
  spec: {
    hosts: ['authz.test', '*.authz.test', 'short'],
    ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
    resolution: 'NONE',
  },
};

function kindOf(settings: JsonObject): string {
  const provider = { name: 'p', envoyExtAuthzHttp: { port: 80, ...settings } };
  const state = world([entry], { mesh: { extensionProviders: [provider] } });
  return ask(state, externalAuthorizer, 'p').kind;
}

describe('an external authorizer', () => {
  it.each([
    ['authz.test', 'http'],
    ['auth/authz.test', 'http'],
    ['auth/*.authz.test', 'http'],
    ['short', 'http'],
    ['*.authz.test', 'unusable'],
    ['auth/short', 'unusable'],
  ])('with the service %s is %s', (service, kind) => {
    expect(kindOf({ service })).toBe(kind);
  });

  it.each([
    ['/check', 'http'],
    ['/check%20it', 'http'],
    ['/check%zz', 'unusable'],
    ['check', 'unusable'],
  ])('with the path prefix %s is %s', (pathPrefix, kind) => {
    expect(kindOf({ service: 'authz.test', pathPrefix })).toBe(kind);
  });
});
