// What a Sidecar lets its workloads see, as its API describes it: the services and VirtualServices of its egress hosts,
// and a policy of its own for everything else. Destinations of a VirtualService that is seen are known beside.

import type { JsonObject } from '../../../src/core/base/json.ts';
import {
  covers,
  fullHost,
  includes,
  listIn,
  namespaceOf,
  objectIn,
  ROOT_NAMESPACE,
  specOf,
  textIn,
  textsIn,
} from './read.ts';
import type { Client, Service } from './services.ts';
import type { World } from './world.ts';

interface Import {
  /** `*`: of any namespace. */
  readonly namespace: string;
  readonly host: string;
}

export interface Scope {
  /** Undefined: everything that is exported is seen. */
  readonly imports: readonly Import[] | undefined;
  readonly registryOnly: boolean;
}

/** Of the client's namespace the one that selects it, else the one without a selector; else the mesh's default. */
export function scopeOf({ objects, mesh }: World, client: Client): Scope {
  const sidecars = objects.filter(({ kind }) => kind === 'Sidecar');
  const selector = (one: JsonObject): JsonObject => objectIn(objectIn(specOf(one).workloadSelector).labels);
  const own = sidecars.find(one => namespaceOf(one) === client.namespace && includes(client.labels, selector(one)));
  const found =
    own ?? sidecars.find(one => namespaceOf(one) === ROOT_NAMESPACE && specOf(one).workloadSelector === undefined);
  const policy = specOf(found ?? {}).outboundTrafficPolicy ?? mesh.outboundTrafficPolicy;
  const registryOnly = objectIn(policy).mode === 'REGISTRY_ONLY';
  if (found === undefined) return { imports: undefined, registryOnly };
  const imports = listIn(specOf(found).egress).flatMap(listener =>
    textsIn(listener.hosts).map((text): Import => {
      const [namespace = '', host = ''] = text.split('/');
      return { namespace: namespace === '.' ? client.namespace : namespace, host };
    }),
  );
  return { imports, registryOnly };
}

const importsOf = (imports: readonly Import[], namespace: string): readonly string[] =>
  imports.filter(one => one.namespace === '*' || one.namespace === namespace).map(({ host }) => host);

export function importedServices({ imports }: Scope, services: readonly Service[]): readonly Service[] {
  if (imports === undefined) return services;
  return services.filter(({ host, namespace }) =>
    importsOf(imports, namespace).some(wanted => wanted === '*' || wanted === host || covers(wanted, host)),
  );
}

/** A VirtualService is seen with all of its hosts if one of them is. */
export function importedRules({ imports }: Scope, rules: readonly JsonObject[]): readonly JsonObject[] {
  if (imports === undefined) return rules;
  return rules.filter(rule => {
    const hosts = textsIn(specOf(rule).hosts).map(host => fullHost(host, namespaceOf(rule)));
    return importsOf(imports, namespaceOf(rule)).some(wanted =>
      hosts.some(host => wanted === '*' || wanted === host || covers(wanted, host) || covers(host, wanted)),
    );
  });
}

/** Hosts to which a VirtualService sends traffic, or copies of it. */
export function destinationsOf(rule: JsonObject): readonly string[] {
  const { http, tcp, tls } = specOf(rule);
  const routes = [...listIn(http), ...listIn(tcp), ...listIn(tls)];
  const given = routes.flatMap(route => [
    ...listIn(route.route).map(one => objectIn(one.destination)),
    ...(route.mirror === undefined ? [] : [objectIn(route.mirror)]),
  ]);
  return given.map(destination => fullHost(textIn(destination.host), namespaceOf(rule)));
}
