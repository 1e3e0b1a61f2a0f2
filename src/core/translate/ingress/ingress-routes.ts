// The VirtualServices of Ingresses: one for each host, of the rules of every Ingress that names it, longer paths first.
// It hangs on the gateway of the oldest of them.
//
// A path whose backend names a port that the Service does not have is left out; whether the Service is there at all is
// not asked for ports by number.
// Source: Istio pilot/pkg/config/kube/ingress/virtualservices.go.

import { utf8 } from '../../base/base64.ts';
import type { IngressBackend, IngressSpec } from '../../kinds/kubernetes/ingress.ts';
import { OF_INGRESS, ROUTE_SEMANTICS } from '../../model/derived.ts';
import { kubernetesHost, resolveShortName } from '../../model/hosts.ts';
import { configKey, kubernetesKey, type Obj } from '../../model/object.ts';
import type { Generator } from '../../query/memo.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { HTTPRoute, StringMatch } from '../../schema/istio-types.gen.ts';
import { derivedObject, oneOf } from '../derived.ts';
import { ingressGatewayKey } from './ingress-gateways.ts';
import { processedIngresses } from './ingresses.ts';

type IngressPath = NonNullable<NonNullable<NonNullable<IngressSpec['rules']>[number]['http']>['paths']>[number];

/** The rules of one host in one Ingress. */
interface HostPaths {
  readonly host: string;
  readonly rules: readonly HTTPRoute[];
}

/** What Ingresses say of one host. */
interface HostOfIngresses {
  readonly first: Obj<'Ingress'>;
  readonly paths: HostPaths[];
  /** `namespace/name` of each Ingress. */
  readonly keys: Set<string>;
}

/** Argument ''. By host, in the order of their first Ingress. */
export const ingressVirtualServices: Query<'', readonly Obj<'VirtualService'>[]> = {
  name: 'translate/ingressVirtualServices',
  run: reader => [...byHost(reader)].map(([host, { first, paths }]) => virtualServiceOf(reader, host, first, paths)),
};

/** Argument ''. `namespace/name` of each such VirtualService → its Ingresses, `namespace/name`. */
export const ingressesOfRoutes: Query<'', ReadonlyMap<string, readonly string[]>> = {
  name: 'translate/ingressesOfRoutes',
  run: reader =>
    new Map(
      [...byHost(reader)].map(([host, { first, keys }]) => [
        configKey(first.namespace, nameOf(host, first)),
        [...keys],
      ]),
    ),
};

function byHost(reader: Reader): ReadonlyMap<string, HostOfIngresses> {
  const found = new Map<string, HostOfIngresses>();
  for (const ingress of reader.get(processedIngresses, '')) {
    const key = configKey(ingress.namespace, ingress.name);
    for (const paths of reader.get(pathsOfIngress, key)) {
      const known = found.get(paths.host) ?? { first: ingress, paths: [], keys: new Set() };
      found.set(paths.host, known);
      known.paths.push(paths);
      known.keys.add(key);
    }
  }
  return found;
}

function nameOf(host: string, { name }: Obj<'Ingress'>): string {
  return `${host.replaceAll('.', '-')}-${name}-${OF_INGRESS}`;
}

/** Argument `namespace/name`. Rules without paths count too. */
const pathsOfIngress: Query<string, readonly HostPaths[]> = {
  name: 'translate/pathsOfIngress',
  run: (reader, key) => {
    const ingress = reader.object('Ingress', key);
    return (ingress?.spec.rules ?? []).flatMap(({ host = '', http }) => {
      if (ingress === undefined || http === undefined) return [];
      const rules = (http.paths ?? []).flatMap(path => ruleOf(reader, ingress.namespace, path));
      return [oneOf(reader, { host: host === '' ? '*' : host, rules })];
    });
  },
};

function virtualServiceOf(
  reader: Reader,
  host: string,
  first: Obj<'Ingress'>,
  paths: readonly HostPaths[],
): Obj<'VirtualService'> {
  const { rules } = reader.make(sortedRules, { paths });
  const meta = {
    namespace: first.namespace,
    name: nameOf(host, first),
    creationTime: 0,
    annotations: { [ROUTE_SEMANTICS]: 'ingress' },
  };
  const gateways = [ingressGatewayKey(reader, first)];
  // Names in a VirtualService are relative to its namespace, also in one that is translated.
  const hosts = [resolveShortName(host, first.namespace, reader.setting('domainSuffix'))];
  return derivedObject(reader, 'VirtualService', meta, { hosts, gateways, http: rules });
}

const sortedRules: Generator<{ readonly paths: readonly HostPaths[] }, { readonly rules: readonly HTTPRoute[] }> = {
  name: 'translate/sortedIngressRules',
  run: ({ paths }) => ({ rules: paths.flatMap(({ rules }) => rules).sort(byPath) }),
};

function byPath(a: HTTPRoute, b: HTTPRoute): number {
  const [left, right] = [a, b].map(rule => rule.match?.[0]?.uri);
  return lengthOf(right) - lengthOf(left) || Number(isExact(right)) - Number(isExact(left));
}

function lengthOf(uri: StringMatch | undefined): number {
  return utf8(uri?.exact ?? uri?.prefix ?? '').length;
}

function isExact(uri: StringMatch | undefined): boolean {
  return uri?.exact !== undefined;
}

function ruleOf(
  reader: Reader,
  namespace: string,
  { path = '', pathType, backend }: IngressPath,
): readonly HTTPRoute[] {
  const { name = '' } = backend?.service ?? {};
  const number = portOf(reader, namespace, backend);
  if (name === '' || number === undefined) return [];
  const host = kubernetesHost(name, namespace, reader.setting('domainSuffix'));
  const uri = uriOf(path, pathType);
  const route = [{ destination: { host, port: { number } }, weight: 100 }];
  return [uri === undefined ? { route } : { match: [{ uri }], route }];
}

/** By number, or by the name that the Service gives it. */
function portOf(reader: Reader, namespace: string, backend: IngressBackend | undefined): number | undefined {
  const { name, port } = backend?.service ?? {};
  if (port?.number) return port.number;
  if (name === undefined) return undefined;
  const wanted = port?.name ?? '';
  return reader.get(portsOfService, configKey(namespace, name)).find(one => one.name === wanted)?.number;
}

const portsOfService: Query<string, readonly { readonly name: string; readonly number: number }[]> = {
  name: 'translate/portsOfService',
  run: (reader, key) => {
    const [namespace = '', name = ''] = key.split('/');
    const service = reader.object('Service', kubernetesKey(reader.setting('clusterId'), namespace, name));
    return (service?.spec.ports ?? []).map(port => ({ name: port.name, number: port.port }));
  },
};

const EVERYTHING: readonly string[] = ['', '*', '/*', '.*'];
const WILDCARD_ENDS: readonly string[] = ['.*', '/*'];

function uriOf(path: string, pathType: string | undefined): StringMatch | undefined {
  if (pathType === 'Exact') return { exact: path };
  if (pathType === 'Prefix') return { prefix: path };
  if (EVERYTHING.includes(path)) return undefined;
  const end = WILDCARD_ENDS.find(one => path.endsWith(one));
  return end === undefined ? { exact: path } : { prefix: path.slice(0, -end.length) };
}
