// Providers of MeshConfig as external authorizers: where they are asked, and why some cannot be although their service
// is there.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import {
  type ExternalAuthorizer,
  externalAuthorizer,
} from '../../../../../src/core/select/policy/external-authorizer.ts';
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

type Kind = 'envoyExtAuthzHttp' | 'envoyExtAuthzGrpc';

function authorizer(settings: JsonObject, kind: Kind = 'envoyExtAuthzHttp', name = 'p'): ExternalAuthorizer {
  const provider = { name, [kind]: { service: 'authz.test', port: 80, ...settings } };
  const state = world([entry], { mesh: { extensionProviders: [provider] } });
  return ask(state, externalAuthorizer, name);
}

/** Undefined: it can be asked. */
function reason(settings: JsonObject, kind?: Kind, name?: string): string | undefined {
  const found = authorizer(settings, kind, name);
  return found.kind === 'unusable' ? found.reason : undefined;
}

const NO_BODY_LIMIT = 'includeRequestBodyInCheck.maxRequestBytes is not above 0, and Envoy refuses that';

describe('an external authorizer', () => {
  it.each([
    ['envoyExtAuthzHttp', 'http'],
    ['envoyExtAuthzGrpc', 'grpc'],
  ] as const)('of %s is asked over %s at the cluster of its service, with its settings', (field, kind) => {
    expect(authorizer({ failOpen: true }, field)).toEqual({
      kind,
      cluster: 'outbound|80||authz.test',
      hostname: 'authz.test',
      settings: { service: 'authz.test', port: 80, failOpen: true },
    });
    expect(authorizer({ port: 0 }, field)).toEqual({ kind: 'unusable', reason: 'port 0 is none' });
  });

  it.each([
    ['authz.test', undefined],
    ['auth/authz.test', undefined],
    ['auth/*.authz.test', undefined],
    ['short', undefined],
    ['*.authz.test', 'its service "*.authz.test" is neither a host nor namespace/host'],
    ['auth/short', 'its service "auth/short" is neither a host nor namespace/host'],
    ['', 'its service "" is neither a host nor namespace/host'],
    ['10.0.0.1', 'its service "10.0.0.1" is not known, or known in several namespaces'],
    ['far/authz.test', 'its service "far/authz.test" is not known, or known in several namespaces'],
  ])('with the service %s is unusable because: %s', (service, expected) => {
    expect(reason({ service })).toBe(expected);
  });

  it.each([
    ['/check', undefined],
    ['/check%20it', undefined],
    ['/check%zz', 'pathPrefix "/check%zz" is no path of a URL'],
    ['check', 'pathPrefix does not begin with a slash'],
  ])('with the path prefix %s is unusable because: %s', (pathPrefix, expected) => {
    expect(reason({ pathPrefix })).toBe(expected);
  });

  it.each([
    'includeRequestHeadersInCheck',
    'includeHeadersInCheck',
    'headersToUpstreamOnAllow',
    'headersToDownstreamOnDeny',
    'headersToDownstreamOnAllow',
  ])('with a lone asterisk among %s is unusable', field => {
    expect(reason({ [field]: ['x-*', '*'] })).toBe('a header is given as "*"');
    expect(reason({ [field]: ['x-*', '*-x'] })).toBeUndefined();
  });

  it.each<[JsonObject, string | undefined]>([
    [{ port: 1 }, undefined],
    [{ port: 65_535 }, undefined],
    [{ port: 65_536 }, 'port 65536 is none'],
    [{ statusOnError: '503' }, undefined],
    [{ statusOnError: '299' }, 'statusOnError "299" is no status that Envoy knows'],
    [{ includeRequestBodyInCheck: { maxRequestBytes: 1 } }, undefined],
    [{ includeRequestBodyInCheck: { maxRequestBytes: 0 } }, NO_BODY_LIMIT],
    [{ includeRequestBodyInCheck: {} }, NO_BODY_LIMIT],
  ])('with %j is unusable because: %s', (settings, expected) => {
    expect(reason(settings)).toBe(expected);
    expect(reason(settings, 'envoyExtAuthzGrpc')).toBe(expected);
  });

  it.each([
    ['a', true],
    ['my-authz-1', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['my.authz', false],
    ['Authz', false],
    ['-authz', false],
    ['authz-', false],
  ])('called %s can be asked: %s', (name, expected) => {
    const problem = `the provider's name "${name}" is not a label of DNS`;
    expect(reason({}, undefined, name)).toBe(expected ? undefined : problem);
  });

  it('is unusable if MeshConfig has no provider of its name that authorizes', () => {
    const none = 'MeshConfig has no external authorizer called "p"';
    const other = { name: 'other', envoyExtAuthzHttp: { service: 'authz.test', port: 80 } };
    const logs = { name: 'p', envoyFileAccessLog: { path: '/dev/stdout' } };
    for (const provider of [other, logs]) {
      const state = world([entry], { mesh: { extensionProviders: [provider] } });
      expect(ask(state, externalAuthorizer, 'p')).toEqual({ kind: 'unusable', reason: none });
    }
  });
});
