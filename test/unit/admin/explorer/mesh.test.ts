// The mesh's graph where nothing arrives: hosts without endpoints and hosts that refuse every caller, folded or not.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mesh, MeshNode } from '../../../../src/admin/explorer/api-questions.ts';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../../src/core/event.ts';
import { type Served, served } from './served.ts';

const HOST = 'svc.cluster.local';

describe('the mesh of an explorer', () => {
  let explorer: Served;
  beforeAll(async () => {
    explorer = await served(facts());
  });
  afterAll(() => explorer.close());

  const meshOf = async (query: string): Promise<Mesh> => (await explorer.ask(`/api/v1/mesh?${query}`)).json;
  const nodeOf = ({ nodes }: Mesh, id: string): MeshNode => nodes.find(node => node.id === id)!;

  it('marks the hosts that no workload reaches, with the reason, and no others', async () => {
    const mesh = await meshOf('');
    const marked = mesh.nodes.filter(({ problems }) => problems.some(({ kind }) => kind === 'unreachable'));
    expect(marked.map(({ id }) => id).sort()).toEqual([`service/closed.bank.${HOST}`, `service/dead.bank.${HOST}`]);
    const messages = mesh.problems.filter(({ kind }) => kind === 'unreachable').map(({ message }) => message);
    expect(messages.sort()).toEqual([
      expect.stringMatching(/^closed\.bank\..* is unreachable for .*: refused by policy$/),
      expect.stringMatching(/^dead\.bank\..* is unreachable for .*: no endpoint$/),
    ]);
    expect(nodeOf(mesh, `service/alive.shop.${HOST}`).problems).toEqual([]);
  });

  it('names a problem once, with the workloads that have it, the worst kind first', async () => {
    const { problems } = await meshOf('');
    const dead = problems.filter(({ kind }) => kind === 'no-endpoints');
    expect(dead.map(({ workloads, proxies, proxiesLeftOut }) => [workloads, proxies, proxiesLeftOut])).toEqual([
      [2, ['closed-1.bank', 'alive-1.shop'], 0],
    ]);
    expect(problems.map(({ kind }) => kind)).toEqual(['unreachable', 'unreachable', 'no-endpoints']);
  });

  it('shows the problems within a folded namespace on its node, and which namespaces to open for each', async () => {
    const mesh = await meshOf('fold=all');
    expect(nodeOf(mesh, 'namespace/bank').problems.map(({ kind }) => kind)).toContain('unreachable');
    const open = mesh.problems.find(({ kind }) => kind === 'unreachable')!;
    expect(open.namespaces).toEqual(['bank']);
    const opened = await meshOf('fold=all&open=bank');
    expect(opened.nodes.map(({ id }) => id)).toContain(open.node);
    expect(opened.folded).toEqual(['shop']);
  });
});

function facts(): readonly Unrecorded[] {
  const source = 'kube/Kubernetes';
  const object = (apiVersion: string, kind: string, metadata: JsonObject, more: JsonObject): Unrecorded => ({
    source,
    kind: 'Add',
    object: { apiVersion, kind, metadata, ...more },
  });
  const service = (name: string, namespace: string, cluster: string, ip: string): readonly Unrecorded[] => [
    object(
      'v1',
      'Service',
      { name, namespace },
      {
        spec: { clusterIP: cluster, selector: { app: name }, ports: [{ name: 'http', port: 80 }] },
      },
    ),
    object(
      'discovery.k8s.io/v1',
      'EndpointSlice',
      {
        name: `${name}-1`,
        namespace,
        labels: { 'kubernetes.io/service-name': name },
      },
      {
        addressType: 'IPv4',
        ports: [{ name: 'http', port: 80 }],
        endpoints: ip === '' ? [] : [{ addresses: [ip], conditions: { ready: true } }],
      },
    ),
  ];
  const workload = (name: string, namespace: string, ip: string): readonly Unrecorded[] => [
    object(
      'v1',
      'Pod',
      { name: `${name}-1`, namespace, labels: { app: name } },
      {
        spec: { serviceAccountName: name },
        status: { podIP: ip, phase: 'Running' },
      },
    ),
    {
      source: 'xds',
      kind: 'ProxyConnected',
      connection: `${name}-1.${namespace}-1-aa-1`,
      node: {
        id: `sidecar~${ip}~${name}-1.${namespace}~${namespace}.svc.cluster.local`,
        cluster: name,
        metadata: { NAMESPACE: namespace, LABELS: { app: name }, SERVICE_ACCOUNT: name },
      },
      protocol: 'delta',
      identities: [`spiffe://cluster.local/ns/${namespace}/sa/${name}`],
    },
  ];
  return [
    object('v1', 'Namespace', { name: 'shop' }, {}),
    object('v1', 'Namespace', { name: 'bank' }, {}),
    ...service('alive', 'shop', '10.96.0.1', '10.1.0.1'),
    ...service('dead', 'bank', '10.96.0.2', ''),
    ...service('closed', 'bank', '10.96.0.3', '10.1.0.3'),
    ...workload('alive', 'shop', '10.1.0.1'),
    ...workload('closed', 'bank', '10.1.0.3'),
    object('security.istio.io/v1', 'AuthorizationPolicy', { name: 'deny-all', namespace: 'bank' }, { spec: {} }),
  ];
}
