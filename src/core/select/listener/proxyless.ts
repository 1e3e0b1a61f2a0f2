// The listeners of a proxyless gRPC program: one for each host and port that its channels dial, and one for each
// address that its servers listen on.
// Source: Istio pilot/pkg/networking/grpcgen/lds.go.

import type { Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { proxySelectedBy, serviceTargets } from '../../registry/workload.ts';
import { outboundClusterName } from '../cluster/cluster-names.ts';
import { type AddressView, addressView, allAddresses, singleAddress } from '../nametable/service-addresses.ts';
import { type AuthorizationInputs, authorizationOfProxy } from '../policy/authorization.ts';
import { inboundMtlsMode } from '../policy/peer-authentication.ts';
import { sessionOf } from '../route/persistent-session.ts';
import { scopedServices } from '../scope/sidecar-scope.ts';
import { joinHostPort, SERVER_LISTENER_PREFIX, splitHostPort, wantedListeners } from './proxyless-names.ts';

export interface ProxylessClientListener {
  readonly name: string;
  readonly address: string;
  readonly moreAddresses: readonly string[];
  readonly port: number;
  readonly routeName: string;
  /** See core/select/route/persistent-session.ts. */
  readonly session: string;
}

export interface ProxylessServerListener {
  readonly name: string;
  readonly address: string;
  readonly moreAddresses: readonly string[];
  readonly port: number;
  readonly mtls: boolean;
  readonly authorization: AuthorizationInputs | undefined;
}

/** In the order of the scope; names that mean nothing are left out. */
export function proxylessClientListeners(
  reader: ProxyReader,
  names: readonly string[],
): readonly ProxylessClientListener[] {
  const place = { namespace: reader.facet('namespace'), dnsDomain: reader.facet('dnsDomain') };
  const { hosts } = wantedListeners(names, place);
  const view = reader.derived(addressView);
  const listeners: ProxylessClientListener[] = [];
  for (const service of reader.get(scopedServices, '')) {
    const { hostname } = service;
    const wanted = hosts === undefined ? { spellings: [hostname], ports: undefined } : hosts.get(hostname);
    if (wanted === undefined) continue;
    const session = sessionOf(reader, service);
    for (const spelling of wanted.spellings) {
      for (const { port } of service.ports) {
        if (wanted.ports !== undefined && !wanted.ports.has(String(port))) continue;
        listeners.push({
          name: joinHostPort(spelling, port),
          address: singleAddress(service, view),
          moreAddresses: moreAddresses(service, view),
          port,
          routeName: outboundClusterName(hostname, '', port),
          session,
        });
      }
    }
  }
  return listeners;
}

/** A server listens on a target port of its workload; any other address is left out. */
export function proxylessServerListeners(
  reader: ProxyReader,
  names: readonly string[],
): readonly ProxylessServerListener[] {
  const servers = names.filter(name => name.startsWith(SERVER_LISTENER_PREFIX));
  if (servers.length === 0) return [];
  const byPort = new Map(reader.get(serviceTargets, '').map(({ service, targetPort }) => [targetPort, service]));
  const view = reader.derived(addressView);
  const listeners: ProxylessServerListener[] = [];
  for (const name of servers) {
    const at = splitHostPort(name.slice(SERVER_LISTENER_PREFIX.length));
    const port = /^[0-9]{1,5}$/.test(at?.port ?? '') ? Number(at?.port) : 0;
    const service = byPort.get(port);
    if (at === undefined || port === 0 || service === undefined) continue;
    listeners.push({
      name,
      address: at.host,
      moreAddresses: moreAddresses(service, view),
      port,
      mtls: demandsMtls(reader, port),
      authorization: reader.get(authorizationOfProxy, { beside: '', subject: '' }),
    });
  }
  return listeners;
}

/** Without a way to tell plain text from TLS on one port, PERMISSIVE means what the workload's label says of it. */
function demandsMtls(reader: ProxyReader, port: number): boolean {
  const mode = reader.get(inboundMtlsMode, String(port));
  if (mode === 'PERMISSIVE') return proxySelectedBy(reader, { 'security.istio.io/tlsMode': 'istio' });
  return mode === 'STRICT';
}

/** All but the first, for clients of both address families. */
function moreAddresses(service: Service, view: AddressView): readonly string[] {
  return view.bothFamilies ? allAddresses(service, view).slice(1) : none;
}

const none: readonly string[] = [];
