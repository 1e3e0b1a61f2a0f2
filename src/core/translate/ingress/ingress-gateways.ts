// The Gateway of an Ingress: a TLS server for each of its secrets, then plain HTTP for every host, on the workloads of
// the mesh's ingress gateway. Secrets are looked up beside that gateway, as in istiod.
// Source: Istio pilot/pkg/config/kube/ingress/gateways.go.

import { OF_INGRESS } from '../../model/derived.ts';
import type { Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { Server } from '../../schema/istio-types.gen.ts';
import { derivedObject } from '../derived.ts';
import { processedIngresses } from './ingresses.ts';

const DEFAULT_SERVICE = 'istio-ingressgateway';
const DEFAULT_SELECTOR = 'ingressgateway';
const SELECTOR_LABEL = 'istio';

/** Argument ''. */
export const ingressGateways: Query<'', readonly Obj<'Gateway'>[]> = {
  name: 'translate/ingressGateways',
  run: reader => reader.get(processedIngresses, '').map(ingress => gatewayOf(reader, ingress)),
};

/** `namespace/name`. */
export function ingressGatewayKey(reader: Reader, { namespace, name }: Obj<'Ingress'>): string {
  return `${reader.feature('K8S_INGRESS_NS')}/${name}-${OF_INGRESS}-${namespace}`;
}

/** The labels of the workloads that serve Ingresses. */
export function ingressSelector(reader: Reader): Readonly<Record<string, string>> {
  const selector = reader.mesh('ingressSelector') ?? '';
  if (selector !== '') return { [SELECTOR_LABEL]: selector };
  const service = reader.mesh('ingressService') ?? '';
  return { [SELECTOR_LABEL]: service === '' || service === DEFAULT_SERVICE ? DEFAULT_SELECTOR : service };
}

function gatewayOf(reader: Reader, ingress: Obj<'Ingress'>): Obj<'Gateway'> {
  const [namespace = '', name = ''] = ingressGatewayKey(reader, ingress).split('/');
  const meta = { namespace, name, creationTime: 0, annotations: {} };
  const spec = { selector: ingressSelector(reader), servers: [...tlsServers(ingress), httpServer(ingress)] };
  return derivedObject(reader, 'Gateway', meta, spec);
}

function tlsServers({ namespace, name, spec }: Obj<'Ingress'>): readonly Server[] {
  return (spec.tls ?? []).flatMap(({ hosts = [], secretName = '' }, i): readonly Server[] =>
    secretName === ''
      ? []
      : [
          {
            port: { number: 443, protocol: 'HTTPS', name: `https-443-ingress-${name}-${namespace}-${i}` },
            hosts: hosts.length === 0 ? ['*'] : hosts,
            tls: { httpsRedirect: false, mode: 'SIMPLE', credentialName: secretName },
          },
        ],
  );
}

function httpServer({ namespace, name }: Obj<'Ingress'>): Server {
  return { port: { number: 80, protocol: 'HTTP', name: `http-80-ingress-${name}-${namespace}` }, hosts: ['*'] };
}
