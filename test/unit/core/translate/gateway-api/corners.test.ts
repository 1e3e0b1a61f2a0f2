// Rules of istiod's translation that show only at the edges of the Gateway API, each read in its source and tried
// against it.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { mergedGateway } from '../../../../../src/core/select/gateway/gateways.ts';
import { derivedDestinationRules } from '../../../../../src/core/translate/gateway-api/derived-destination-rules.ts';
import { translatedListenerSet } from '../../../../../src/core/translate/gateway-api/gateways.ts';
import { translatedPolicy } from '../../../../../src/core/translate/gateway-api/policies.ts';
import { ingressVirtualServices } from '../../../../../src/core/translate/ingress/ingress-routes.ts';
import { policyStatuses } from '../../../../../src/core/wishes/gateway-api/policy-status.ts';
import { Scene } from '../../../xds/generate/route/scene.ts';
import { API, gateway, gatewaysIn, listener, object, open, route, rule, services } from './scene.ts';

const ALPHA = { PILOT_ENABLE_ALPHA_GATEWAY_API: 'true' };

function trafficPolicy(name: string, created: string, percent?: number): JsonObject {
  const budget = percent === undefined ? {} : { retryConstraint: { budget: { percent, interval: '10s' } } };
  const spec = { targetRefs: [{ group: '', kind: 'Service', name: 'web' }], ...budget };
  const made = object('XBackendTrafficPolicy', 'infra', name, spec, { creationTimestamp: created });
  return { ...made, apiVersion: 'gateway.networking.x-k8s.io/v1alpha1' };
}

describe('of two XBackendTrafficPolicies for one Service', () => {
  it('the younger counts for nothing, not even with a retry budget that the older lacks', () => {
    const made = new Scene(
      [...services, trafficPolicy('old', '2020-01-01T00:00:00Z'), trafficPolicy('young', '2021-01-01T00:00:00Z', 50)],
      { env: ALPHA },
    );
    const [only] = made.tracker.get(made.state, undefined, derivedDestinationRules, 'infra');
    expect(only?.spec.trafficPolicy).toEqual({ loadBalancer: {} });
    expect(only?.annotations['internal.istio.io/parents']).toBe('XBackendTrafficPolicy/infra.old');
  });
});

describe('a BackendTLSPolicy', () => {
  it('has no Gateway as its ancestor whose routes name the backend under another group', () => {
    const spec = {
      targetRefs: [{ group: '', kind: 'Service', name: 'web' }],
      validation: { hostname: 'x.com', wellKnownCACertificates: 'System' },
    };
    const foreign = route('a', {
      rules: [{ backendRefs: [{ group: 'x.io', kind: 'Service', name: 'web', port: 80 }] }],
    });
    const made = new Scene([
      ...services,
      gateway('gw', [listener('http')]),
      object('BackendTLSPolicy', 'infra', 'p', spec),
      foreign,
    ]);
    const ancestors = (): unknown =>
      made.tracker
        .get(made.state, undefined, policyStatuses, '')
        .map(({ fields }) => (fields as { readonly status: JsonObject }).status.ancestors);
    expect(ancestors()).toMatchObject([[{ ancestorRef: { kind: 'Service' } }]]);
    made.put(route('b', { rules: [rule('web')] }));
    expect(ancestors()).toMatchObject([[{ ancestorRef: { kind: 'Service' } }, { ancestorRef: { kind: 'Gateway' } }]]);
  });
});

describe('thousands of BackendTLSPolicies of one backend', () => {
  /** If each is compared with all others: a minute. */
  const CPU_MS_MAX = 6_000;

  it('are judged at a cost that follows their number; the first has the backend', () => {
    const spec = {
      targetRefs: [{ group: '', kind: 'Service', name: 'web' }],
      validation: { hostname: 'x.com', wellKnownCACertificates: 'System' },
    };
    const keys = Array.from({ length: 12_000 }, (_, i) => `p${String(i).padStart(5, '0')}`);
    const made = new Scene([...services, ...keys.map(name => object('BackendTLSPolicy', 'infra', name, spec))]);
    const before = process.cpuUsage();
    const reasons = keys.map(
      name =>
        made.tracker.get(made.state, undefined, translatedPolicy, { kind: 'BackendTLSPolicy', key: `infra/${name}` })
          ?.verdicts[0]?.accepted?.message,
    );
    const { user, system } = process.cpuUsage(before);
    expect(reasons[0]).toBeUndefined();
    const conflict = 'Conflicts with BackendTLSPolicy "p00000" targeting the same backend';
    expect(new Set(reasons.slice(1))).toEqual(new Set([conflict]));
    expect((user + system) / 1_000).toBeLessThan(CPU_MS_MAX);
  });
});

describe('a listener of a ListenerSet', () => {
  const parent = gateway('gw', [listener('http')], { allowedListeners: { namespaces: { from: 'All' } } });
  const set = (namespace: string, one: JsonObject): JsonObject =>
    object('ListenerSet', namespace, 'set', {
      parentRef: { group: API, kind: 'Gateway', name: 'gw', namespace: 'infra' },
      listeners: [one],
    });
  const listenersIn = (made: Scene, key: string) =>
    made.tracker.get(made.state, undefined, translatedListenerSet, key)?.listeners;

  it('of another namespace is judged as ever where Gateways are for their own namespace only', () => {
    const scoped = { PILOT_SCOPE_GATEWAY_TO_NAMESPACE: 'true' };
    const made = new Scene([...services, parent, set('far', listener('extra'))], { env: scoped });
    expect(listenersIn(made, 'far/set')).toHaveLength(1);
  });
});

describe('an annotation that is empty', () => {
  it('leaves service and account of a Gateway at their usual names', () => {
    const annotations = { 'gateway.istio.io/name-override': '', 'gateway.istio.io/service-account': '' };
    const plain = gateway('gw', [listener('http', open)]);
    const [derived] = gatewaysIn(
      new Scene([...services, { ...plain, metadata: { ...(plain.metadata as JsonObject), annotations } }]),
    );
    expect(derived?.annotations).toMatchObject({
      'internal.istio.io/gateway-service': 'gw-istio.infra.svc.cluster.local',
      'internal.istio.io/service-account-name': 'gw-istio',
    });
  });
});

describe('a backend of an Ingress without number and name of a port', () => {
  it('is the port of the Service that has no name', () => {
    const backend = { service: { name: 'plain', port: {} } };
    const ingress = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'i', namespace: 'infra', annotations: { 'kubernetes.io/ingress.class': 'istio' } },
      spec: { rules: [{ host: 'x.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
    };
    const plain = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'plain', namespace: 'infra' },
      spec: { clusterIP: '10.96.1.1', ports: [{ port: 8080 }] },
    };
    const made = new Scene([plain, ingress]);
    const [only] = made.tracker.get(made.state, undefined, ingressVirtualServices, '');
    expect(only?.spec.http?.[0]?.route?.[0]?.destination?.port).toEqual({ number: 8080 });
  });
});

describe('an HTTPS listener without TLS settings', () => {
  it('displaces those with a certificate on its port, whose names come before its own', () => {
    const https = (name: string, more: JsonObject = {}): JsonObject =>
      listener(name, { port: 443, protocol: 'HTTPS', hostname: `${name}.com`, ...more });
    const terminated = { tls: { options: { 'gateway.istio.io/tls-terminate-mode': 'ISTIO_SIMPLE' } } };
    const port = { name: 'https', port: 443 };
    const spec = { clusterIP: '10.96.0.9', ports: [port], selector: { app: 'gw' } };
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'gw-istio', namespace: 'infra' }, spec };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'gw', namespace: 'infra', labels: { app: 'gw' } },
      spec: { nodeName: 'n', containers: [{ name: 'c' }] },
      status: { phase: 'Running', podIP: '10.1.0.9', podIPs: [{ ip: '10.1.0.9' }] },
    };
    const made = new Scene([service, pod, gateway('gw', [https('a', terminated), https('b'), https('c', terminated)])]);
    made.connect('gw', {
      id: 'router~10.1.0.9~gw.infra~infra.svc.cluster.local',
      metadata: { NAMESPACE: 'infra', CLUSTER_ID: 'Kubernetes', LABELS: { app: 'gw' }, INSTANCE_IPS: '10.1.0.9' },
    });
    const { groups, refused } = made.tracker.get(made.state, made.state.proxies.get('gw')!, mergedGateway, '');
    const listenerOf = (name: string): string | undefined => name.split('~').at(-1);
    expect(groups.map(({ servers }) => servers.map(({ gatewayName }) => listenerOf(gatewayName)))).toEqual([['b']]);
    expect(refused.map(one => [listenerOf(one.gateway), one.server])).toEqual([
      ['a', 0],
      ['c', 0],
    ]);
  });
});
