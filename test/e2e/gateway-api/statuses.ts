// What the suite does not ask of statuses on the API server: entries of other controllers stay as they are, and once
// all is written nothing is written any more.

import type { JsonObject } from '../../../src/core/base/json.ts';
import type { KubeClient } from '../kube/client.ts';
import { until } from '../kube/until.ts';

const NAMESPACE = 'gateway-conformance-infra';
const PATH = `/apis/gateway.networking.k8s.io/v1/namespaces/${NAMESPACE}`;
const OURS = 'istio.io/gateway-controller';
const WAIT_MS_MAX = 120_000;
const QUIET_MS = 5_000;

const foreign: JsonObject = {
  parentRef: { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'elsewhere' },
  controllerName: 'example.com/other',
  conditions: [
    {
      type: 'Accepted',
      status: 'True',
      reason: 'Accepted',
      message: 'by another controller',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-02T03:04:05Z',
    },
  ],
};

function route(path: string): JsonObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'two-controllers', namespace: NAMESPACE },
    spec: {
      parentRefs: [{ name: 'same-namespace' }, { name: 'elsewhere' }],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: path } }],
          backendRefs: [{ name: 'infra-backend-v1', port: 8080 }],
        },
      ],
    },
  };
}

/** Verdicts by name. The base objects of the suite have to be there. */
export async function statusVerdicts(admin: KubeClient): Promise<ReadonlyMap<string, boolean>> {
  await admin.put({ ...route('/one'), status: { parents: [foreign] } });
  const verdicts = new Map<string, boolean>();
  verdicts.set('StatusKeepsForeignEntries', await bothEntries(admin, 1));
  await admin.put(route('/two'));
  verdicts.set('StatusFollowsGenerations', await bothEntries(admin, 2));
  verdicts.set('StatusReachesFixedPoint', await isQuiet(admin));
  await admin.remove(route('/two'));
  return verdicts;
}

/** The other controller's entry comes first and is untouched; ours is of the generation. */
async function bothEntries(admin: KubeClient, generation: number): Promise<boolean> {
  const holds = async (): Promise<boolean> => {
    const { status } = (await admin.get(`${PATH}/httproutes/two-controllers`)) as {
      readonly status?: { readonly parents?: readonly JsonObject[] };
    };
    const [first, second, ...more] = status?.parents ?? [];
    const conditions = (second?.conditions ?? []) as readonly JsonObject[];
    return (
      JSON.stringify(sorted(first)) === JSON.stringify(sorted(foreign)) &&
      second?.controllerName === OURS &&
      more.length === 0 &&
      conditions.some(({ type, status }) => type === 'Accepted' && status === 'True') &&
      conditions.every(({ observedGeneration }) => observedGeneration === generation)
    );
  };
  return until('both entries', holds, WAIT_MS_MAX).then(
    () => true,
    () => false,
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, part]) => [key, sorted(part)]),
  );
}

async function isQuiet(admin: KubeClient): Promise<boolean> {
  const versions = async (): Promise<string> => {
    const lists = await Promise.all(['gateways', 'httproutes'].map(plural => admin.get(`${PATH}/${plural}`)));
    const items = lists.flatMap(({ items }) => items as readonly { readonly metadata: JsonObject }[]);
    return JSON.stringify(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  };
  let before = '';
  const holds = async (): Promise<boolean> => {
    before = await versions();
    await new Promise(resolve => setTimeout(resolve, QUIET_MS));
    return (await versions()) === before;
  };
  return until('quiet', holds, WAIT_MS_MAX).then(
    () => true,
    () => false,
  );
}
