// What the Istio API says of connections that reach a workload: PeerAuthentication decides whether mesh mTLS is
// demanded, accepted or none of the proxy's business, and the protocol of the service's port whether requests or bytes
// are passed on. Written from the description of PeerAuthentication and of protocol selection.

import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Connection } from '../../../src/oracle/question.ts';
import { includes, listIn, namespaceOf, objectIn, ROOT_NAMESPACE, specOf, textIn } from './read.ts';
import type { Protocol } from './services.ts';

export type Mode = 'STRICT' | 'PERMISSIVE' | 'DISABLE';

export interface Workload {
  readonly namespace: string;
  readonly labels: JsonObject;
  readonly address: string;
}

/** What comes with a connection, as far as inbound traffic goes. */
export interface Arriving {
  readonly port: number;
  /** `mesh`: mTLS of another proxy; `bare`: the same without a certificate; `own`: TLS of the application. */
  readonly tls: 'none' | 'mesh' | 'bare' | 'own';
  readonly says: 'http' | 'bytes' | 'nothing';
}

export function connectionOf({ port, tls, says }: Arriving, workload: Workload): Connection {
  const certificate = 'spiffe://cluster.local/ns/prod/sa/client';
  const alpn = says === 'http' ? ['istio-http/1.1', 'istio', 'http/1.1'] : ['istio-peer-exchange', 'istio'];
  return {
    arrives: 'inbound',
    source: { address: '10.1.99.1', port: 40_000 },
    destination: { address: workload.address, port },
    ...(tls === 'none'
      ? {}
      : { tls: tls === 'own' ? { sni: 'app' } : tls === 'bare' ? { alpn } : { alpn, certificate } }),
    ...(says === 'http' ? { http: { authority: 'alpha' } } : {}),
    ...(says === 'nothing' ? { serverFirst: true } : {}),
  };
}

/** The narrowest policy that sets a mode: of the port, the workload, the namespace, the mesh. Undecided: PERMISSIVE. */
function modeOf(objects: readonly JsonObject[], workload: Workload, port: number): Mode {
  const policies = objects.filter(({ kind }) => kind === 'PeerAuthentication');
  const selector = (policy: JsonObject): JsonObject => objectIn(objectIn(specOf(policy).selector).matchLabels);
  const wide = (namespace: string): JsonObject | undefined =>
    policies.find(policy => namespaceOf(policy) === namespace && Object.keys(selector(policy)).length === 0);
  const own = policies.find(
    policy =>
      namespaceOf(policy) === workload.namespace &&
      Object.keys(selector(policy)).length > 0 &&
      includes(workload.labels, selector(policy)),
  );
  const given = [
    objectIn(objectIn(specOf(own ?? {}).portLevelMtls)[String(port)]).mode,
    ...[own, wide(workload.namespace), wide(ROOT_NAMESPACE)].map(policy => objectIn(specOf(policy ?? {}).mtls).mode),
  ];
  const decided = given.find(mode => mode !== undefined && mode !== 'UNSET');
  return (decided ?? 'PERMISSIVE') as Mode;
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = { http: 'http', grpc: 'http', tcp: 'tcp', https: 'tcp' };

/** The protocol of the service port that leads to a port of the workload; undefined if none does. */
function declared(objects: readonly JsonObject[], workload: Workload, port: number): Protocol | undefined {
  for (const service of objects) {
    if (service.kind !== 'Service' || namespaceOf(service) !== workload.namespace) continue;
    if (!includes(workload.labels, objectIn(specOf(service).selector))) continue;
    const found = listIn(specOf(service).ports).find(one => one.targetPort === port);
    if (found !== undefined) return PROTOCOLS[textIn(found.name).split('-')[0]!] ?? 'auto';
  }
  return undefined;
}

/** `http` or `tcp` and where it goes; `closed`; `stuck`, if the proxy and the client wait for each other. */
export function expectInbound(objects: readonly JsonObject[], workload: Workload, arriving: Arriving): string {
  const { port, tls, says } = arriving;
  const mode = modeOf(objects, workload, port);
  const protocol = declared(objects, workload, port);
  const name = protocol === undefined ? 'passthrough' : `inbound ${port}`;
  const to = (as: 'http' | 'tcp'): string => `${as} ${name} ${workload.address}:${port}`;
  const detects = protocol === 'auto' || protocol === undefined;
  const handed = (): string => {
    if (protocol === 'http') return says === 'http' ? to('http') : 'closed';
    return to(detects && says === 'http' ? 'http' : 'tcp');
  };
  if (says === 'nothing') {
    // A listener that has to detect the protocol waits for data.
    if (mode !== 'DISABLE' || detects) return 'stuck';
    return handed();
  }
  if (mode === 'DISABLE') {
    // TLS belongs to the application, for any client.
    if (tls === 'none') return handed();
    return protocol === 'http' ? 'closed' : to('tcp');
  }
  if (tls === 'mesh') return handed();
  if (tls === 'bare') return 'closed';
  if (mode === 'STRICT') return 'closed';
  if (tls === 'none') return handed();
  return protocol === 'http' ? 'closed' : to('tcp');
}
