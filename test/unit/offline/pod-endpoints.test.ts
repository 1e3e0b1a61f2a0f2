import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import { foldFacts } from '../../../src/offline/generate.ts';
import { withEndpointsOfPods } from '../../../src/offline/pod-endpoints.ts';

function added(apiVersion: string, kind: string, metadata: JsonObject, rest: JsonObject): Unrecorded {
  return {
    source: 'file/Kubernetes',
    kind: 'Add',
    object: { apiVersion, kind, metadata: { namespace: 'shop', ...metadata }, ...rest },
  };
}

const service = added(
  'v1',
  'Service',
  { name: 'reviews' },
  {
    spec: {
      selector: { app: 'reviews' },
      ports: [
        { name: 'http', port: 80, targetPort: 'web' },
        { name: 'raw', port: 9 },
      ],
    },
  },
);

function pod(
  name: string,
  containerPort: number,
  more: { readonly app?: string; readonly status?: JsonObject } = {},
): Unrecorded {
  const { app = 'reviews', status = {} } = more;
  return added(
    'v1',
    'Pod',
    { name, labels: { app } },
    {
      spec: { containers: [{ name: 'app', image: 'x', ports: [{ name: 'web', containerPort }] }] },
      status: { phase: 'Running', podIP: `10.0.0.${containerPort % 100}`, ...status },
    },
  );
}

function endpointsOf(...facts: Unrecorded[]): readonly unknown[] {
  const { objects } = withEndpointsOfPods(foldFacts(facts).state);
  return [...objects.EndpointSlice.values()].map(({ name, spec }) => {
    const { ports, endpoints } = spec as unknown as {
      readonly ports: readonly { readonly port: number }[];
      readonly endpoints: readonly {
        readonly addresses: readonly string[];
        readonly conditions: { readonly ready: boolean };
      }[];
    };
    return [name, ports.map(({ port }) => port), endpoints.map(one => [one.addresses[0], one.conditions.ready])];
  });
}

describe('endpoints made of pods', () => {
  it('are those that a Service selects, with the ports by number or by the name of each container', () => {
    expect(endpointsOf(service, pod('a', 8080), pod('b', 8081), pod('c', 8082, { app: 'ratings' }))).toEqual([
      ['reviews-a', [8080, 9], [['10.0.0.80', true]]],
      ['reviews-b', [8081, 9], [['10.0.0.81', true]]],
    ]);
  });

  it('are not ready where the pod says so', () => {
    const status = { conditions: [{ type: 'Ready', status: 'False' }] };
    expect(endpointsOf(service, pod('a', 8080, { status }))).toEqual([
      ['reviews-a', [8080, 9], [['10.0.0.80', false]]],
    ]);
  });

  it('are not made where the input has endpoints of its own', () => {
    const slice = added(
      'discovery.k8s.io/v1',
      'EndpointSlice',
      { name: 'other' },
      { addressType: 'IPv4', endpoints: [] },
    );
    expect(endpointsOf(service, pod('a', 8080), slice)).toEqual([['other', [], []]]);
  });
});
