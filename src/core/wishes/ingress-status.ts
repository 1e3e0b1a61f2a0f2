// The load-balancer status of Ingresses: where the mesh's ingress gateway is reached, the same for every Ingress. Those
// of other revisions are served too; their status is written by the control plane of that revision.
// Source: Istio pilot/pkg/config/kube/ingress/ingress.go (runningAddresses, sliceToStatus), pilot/pkg/status
// (RegisterStatus).

import { isIp } from '../base/ip.ts';
import type { JsonObject } from '../base/json.ts';
import { selects } from '../base/labels.ts';
import { kubernetesKey } from '../model/object.ts';
import type { Query, Reader } from '../query/reader.ts';
import { oneOf } from '../translate/derived.ts';
import { ingressSelector } from '../translate/ingress/ingress-gateways.ts';
import { processedIngresses } from '../translate/ingress/ingresses.ts';
import { isOurs } from './gateway-api/ours.ts';
import { writesStatuses } from './gateway-api/status-wish.ts';
import { MANAGER, type Wish } from './wish.ts';

const ELECTION = 'istio-leader';

/** Argument ''. */
export const ingressStatuses: Query<'', readonly Wish[]> = {
  name: 'wishes/ingressStatuses',
  run: reader => {
    if (!writesStatuses(reader)) return [];
    const addresses = reader.get(ingressAddresses, '');
    const ingress = addresses.length === 0 ? null : addresses.map(entryOf);
    const own = reader.get(processedIngresses, '').filter(one => isOurs(reader, one));
    return own.map(({ namespace, name }) =>
      oneOf<Wish>(reader, {
        cluster: reader.setting('clusterId'),
        kind: 'Ingress',
        namespace,
        name,
        subresource: 'status',
        manager: MANAGER,
        fields: { status: { loadBalancer: { ingress } } },
        verb: 'merge',
        gate: ELECTION,
      }),
    );
  },
};

function entryOf(address: string): JsonObject {
  return isIp(address) ? { ip: address } : { hostname: address };
}

/** Argument ''. Host names after addresses, each sorted. */
const ingressAddresses: Query<'', readonly string[]> = {
  name: 'wishes/ingressAddresses',
  run: reader => {
    const service = reader.mesh('ingressService') ?? '';
    const found = service === '' ? ofNodes(reader) : ofService(reader, service);
    const hosts = found.filter(address => !isIp(address));
    return [...found.filter(isIp).sort(), ...hosts.sort()];
  },
};

function ofService(reader: Reader, name: string): readonly string[] {
  const key = kubernetesKey(reader.setting('clusterId'), reader.feature('K8S_INGRESS_NS'), name);
  const service = reader.object('Service', key);
  if (service === undefined) return [];
  const { type, externalName, loadBalancerIngress, externalIPs } = service.spec;
  if (type === 'ExternalName') return [externalName];
  const balancers = loadBalancerIngress.map(({ ip, hostname }) => ip || hostname || '');
  return [...balancers, ...externalIPs].filter(address => address !== '');
}

/** Of the first gateway pod that runs on a node that is known. */
function ofNodes(reader: Reader): readonly string[] {
  const cluster = reader.setting('clusterId');
  const selector = ingressSelector(reader);
  for (const pod of reader.objects('Pod', `${cluster}/${reader.feature('K8S_INGRESS_NS')}/`)) {
    if (pod.spec.phase !== 'Running' || !selects(selector, pod.labels)) continue;
    const node = reader.object('Node', `${cluster}/${pod.spec.nodeName}`);
    if (node === undefined) continue;
    const external = node.spec.addresses.filter(({ type }) => type === 'ExternalIP').map(({ address }) => address);
    return [...new Set(external)];
  }
  return [];
}
