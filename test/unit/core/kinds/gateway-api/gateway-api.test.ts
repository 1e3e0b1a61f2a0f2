// The kinds of the Gateway API: defaults of the API server, and what the CRDs refuse.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { decodedOf, problemsOf, withSpec } from '../verdict.ts';

const route = (rule: JsonObject): JsonObject => withSpec('HTTPRoute', { rules: [rule] });
const backend = { name: 'web', port: 80 };

describe('a route in a file', () => {
  it('gets the defaults of the CRD, as in a cluster', () => {
    expect(
      decodedOf(
        'HTTPRoute',
        withSpec('HTTPRoute', { parentRefs: [{ name: 'gw' }], rules: [{ backendRefs: [backend] }] }),
      ),
    ).toEqual({
      parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw' }],
      rules: [
        {
          backendRefs: [{ group: '', kind: 'Service', name: 'web', port: 80, weight: 1 }],
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
        },
      ],
    });
  });
  it('gets the rule that matches everything if it has none', () => {
    expect(decodedOf('HTTPRoute', withSpec('HTTPRoute', {})).rules).toEqual([
      { matches: [{ path: { type: 'PathPrefix', value: '/' } }] },
    ]);
  });
});

describe('a Gateway in a file', () => {
  it('admits routes of its own namespace and terminates TLS unless it says otherwise', () => {
    const tls = { certificateRefs: [{ name: 'c' }] };
    const spec = { gatewayClassName: 'istio', listeners: [{ name: 'a', port: 443, protocol: 'HTTPS', tls }] };
    expect(decodedOf('KubernetesGateway', withSpec('KubernetesGateway', spec)).listeners?.[0]).toMatchObject({
      allowedRoutes: { namespaces: { from: 'Same' } },
      tls: { mode: 'Terminate', certificateRefs: [{ group: '', kind: 'Secret', name: 'c' }] },
    });
  });
});

describe('the CRDs refuse', () => {
  it.each<[string, JsonObject, string]>([
    [
      'a Service without port',
      route({ backendRefs: [{ name: 'a' }] }),
      'spec.rules[0].backendRefs[0]: a reference to a Service needs port',
    ],
    [
      'a filter that does not say what its type needs',
      route({ filters: [{ type: 'URLRewrite' }], backendRefs: [backend] }),
      'spec.rules[0].filters[0]: type URLRewrite needs urlRewrite',
    ],
    [
      'a redirect with backends',
      route({ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }], backendRefs: [backend] }),
      'spec.rules[0]: a rule with backendRefs cannot redirect',
    ],
    [
      'a status code that is no redirect',
      route({ filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 200 } }] }),
      'spec.rules[0].filters[0].requestRedirect.statusCode: expected one of 301, 302, 303, 307, 308, found 200',
    ],
    [
      'a header value of a page with a letter that is not ASCII',
      route({ matches: [{ headers: [{ name: 'x', value: `${'a'.repeat(4_000)}é` }] }] }),
      `spec.rules[0].matches[0].headers[0].value: the string "${'a'.repeat(40)}…" does not match ^[!-~]+([\\t ]?[!-~]+)*$`,
    ],
    [
      'a header value that is too long, whatever else it is',
      route({ matches: [{ headers: [{ name: 'x', value: 'é'.repeat(4_097) }] }] }),
      'spec.rules[0].matches[0].headers[0].value: is 4097 characters; at most 4096 allowed',
    ],
    [
      'a path with two slashes',
      route({ matches: [{ path: { value: '//a' } }] }),
      'spec.rules[0].matches[0].path: the value of an Exact or PathPrefix path must not contain //',
    ],
    [
      'a backend that may take longer than the whole request',
      route({ timeouts: { request: '1s', backendRequest: '2s' } }),
      'spec.rules[0].timeouts: backendRequest must not be longer than request',
    ],
    [
      'two listeners of one name',
      withSpec('KubernetesGateway', {
        gatewayClassName: 'istio',
        listeners: [
          { name: 'a', port: 80, protocol: 'HTTP' },
          { name: 'a', port: 81, protocol: 'HTTP' },
        ],
      }),
      'spec.listeners[1]: has the same name as an earlier element',
    ],
    [
      'an address that is none',
      withSpec('KubernetesGateway', {
        gatewayClassName: 'istio',
        listeners: [{ name: 'a', port: 80, protocol: 'HTTP' }],
        addresses: [{ value: '1.1.1' }],
      }),
      'spec.addresses[0]: "1.1.1" is not an IP address, which type IPAddress needs',
    ],
    [
      'an InferencePool whose picker has no port',
      withSpec('InferencePool', {
        selector: { matchLabels: { app: 'a' } },
        targetPorts: [{ number: 80 }],
        endpointPickerRef: { name: 'picker' },
      }),
      'spec.endpointPickerRef: a reference to a Service needs port',
    ],
    ['a route without a spec', { ...route({}), spec: null }, 'spec: is missing'],
  ])('%s', (_, object, problem) => {
    expect(problemsOf(object)).toEqual([problem]);
  });
  it('a TLSRoute without hostnames, except in v1alpha2', () => {
    const without = withSpec('TLSRoute', { rules: [{ backendRefs: [backend] }] });
    expect(problemsOf(without)).toEqual(['spec.hostnames: is missing']);
    expect(problemsOf({ ...without, apiVersion: 'gateway.networking.k8s.io/v1alpha2' })).toEqual([]);
  });
  it('a ReferenceGrant only for its content, not for a missing spec', () => {
    expect(problemsOf({ ...withSpec('ReferenceGrant', {}), spec: null })).toEqual([]);
  });
});
