// The functions that Istio adds for its injection and gateway templates; some replace sprig's of the same name.
// Source: Istio pkg/kube/inject/template.go.

import { isObject, type Json, type JsonObject } from '../../../core/base/json.ts';
import { ANY_NUMBER, integerArgument, listArgument, ofTexts, taking, textMapArgument } from '../arguments.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { goJson } from '../go-json.ts';
import { goYaml } from '../go-yaml.ts';
import { TemplateFault } from '../limits.ts';
import { fromJson, show, textArgument, toJson, type Value, Viewed } from '../value.ts';
import { StructView } from '../views.ts';
import { own, parsed } from './collections.ts';
import { otelAttributes } from './otel.ts';
import { withoutDefaults } from './proxy-config.ts';

export const istio: { readonly [name: string]: TemplateFunction } = {
  annotation: taking(3, 3, ([meta, name, fallback]) => {
    const found = annotationsOf(meta).get(textArgument(name, 'annotation'));
    return found ?? show(fallback);
  }),
  isset: taking(2, 2, ([map, key]) => textMapArgument(map).has(textArgument(key, 'isset'))),
  valueOrDefault: taking(2, 2, ([value, fallback]) =>
    value === '' || value === null || value === undefined ? fallback : value,
  ),
  contains: ofTexts(2, (needle, haystack) => haystack!.includes(needle!)),
  toLower: ofTexts(1, text => text!.toLowerCase()),
  toYaml: taking(1, 1, ([value], { budget }) => {
    const text = goYaml(toJson(value));
    budget.make(text.length);
    return text;
  }),
  indent: taking(2, 2, ([count, text], { budget }) => {
    const [first, ...rest] = textArgument(text, 'indent').split('\n');
    const pad = ' '.repeat(Math.min(Math.max(0, integerArgument(count)), 1_000));
    budget.make(rest.length * (pad.length + 1));
    return [first, ...rest.map(line => pad + line)].join('\n');
  }),
  omitNil: taking(1, 1, ([value]) => fromJson(withoutNil(toJson(value)) ?? null)),
  excludeInboundPort: taking(2, 2, ([port, excluded]) =>
    withPort(show(port).trim(), textArgument(excluded, 'excludeInboundPort')),
  ),
  includeInboundPorts: taking(1, 1, ([containers]) => portsOf(containers, () => true)),
  applicationPorts: taking(1, 1, ([containers]) => portsOf(containers, name => name !== 'istio-proxy')),
  kubevirtInterfaces: ofTexts(1, text => text),
  excludeInterfaces: ofTexts(1, text => text),
  appendMultusNetwork: ofTexts(2, (existing, network) => withNetwork(existing!, network!)),
  directory: ofTexts(1, path => path!.slice(0, path!.lastIndexOf('/') + 1)),
  fromJSON: taking(1, 1, ([text], context) => {
    const value = parsed(textArgument(text, 'fromJSON'));
    return value === undefined ? '{}' : own(value, context);
  }),
  toJSON: taking(1, 1, ([map], { budget }) => {
    const text = goJson(toJson(map) ?? {});
    budget.make(text.length);
    return map === undefined || map === null ? '{}' : text;
  }),
  structToJSON: taking(1, 1, ([value], { budget }) => {
    if (value === undefined || value === null) return '{}';
    const text = value instanceof StructView ? goJson(value.ordered(), { keepsOrder: true }) : goJson(toJson(value));
    budget.make(text.length);
    return text;
  }),
  protoToJSON: taking(1, 1, ([value], { budget }) => {
    const json = toJson(value);
    const text = isObject(json) ? goJson(withoutDefaults(json), { keepsOrder: true, escapesHtml: false }) : '{}';
    budget.make(text.length);
    return text;
  }),
  formatDuration: taking(1, 1, ([value]) => show(value)),
  otelResourceAttributes: taking(5, 5, ([mesh, annotations, labels, namespace, containers]) =>
    otelAttributes({
      mesh: toJson(mesh),
      annotations: textMapArgument(annotations),
      labels: textMapArgument(labels),
      namespace: textArgument(namespace, 'otelResourceAttributes'),
      containers: listArgument(containers).map(toJson),
    }),
  ),
  omit: taking(1, ANY_NUMBER, ([map, ...keys]) => {
    const omitted = new Set(keys.map(key => textArgument(key, 'omit')));
    return Object.fromEntries([...textMapArgument(map)].filter(([key]) => !omitted.has(key)));
  }),
  strdict: taking(0, ANY_NUMBER, args => {
    const names = args.map(arg => textArgument(arg, 'strdict'));
    return Object.fromEntries(names.flatMap((name, i) => (i % 2 === 0 ? [[name, names[i + 1] ?? ''] as const] : [])));
  }),
  toJsonMap: taking(0, ANY_NUMBER, (maps, { budget }) => {
    const text = goJson(mergedMaps(maps));
    budget.make(text.length);
    return text;
  }),
  mergeMaps: taking(0, ANY_NUMBER, maps => (maps.length === 0 ? null : mergedMaps(maps))),
  // The environment of the process is no data of the mesh: the default always applies.
  env: ofTexts(2, (_, fallback) => fallback),
};

function annotationsOf(meta: Value): ReadonlyMap<string, string> {
  if (!(meta instanceof Viewed)) throw new TemplateFault('expected the metadata of an object');
  return textMapArgument(meta.field('Annotations'));
}

function mergedMaps(maps: readonly Value[]): JsonObject {
  return Object.fromEntries(maps.flatMap(map => [...textMapArgument(map)])) as JsonObject;
}

/** Undefined: nothing is left. */
function withoutNil(value: Json): Json | undefined {
  if (value === null) return undefined;
  if (!hasNil(value)) return value;
  if (Array.isArray(value)) {
    const kept = (value as readonly Json[]).map(withoutNil).filter(element => element !== undefined);
    return kept.length === 0 ? undefined : kept;
  }
  const members = Object.entries(value as JsonObject).map(
    ([name, member]) => [name, withoutNil(member ?? null)] as const,
  );
  const kept = members.filter(([, member]) => member !== undefined);
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as JsonObject);
}

function hasNil(value: Json): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return (value as readonly Json[]).some(hasNil);
  return isObject(value) && Object.values(value).some(member => hasNil(member ?? null));
}

function withPort(port: string, excluded: string): string {
  if (port === '' || port === '0') return excluded;
  const ports = excluded.split(',').map(part => part.trim());
  if (ports.includes(port)) return excluded;
  return [...ports.filter(part => part !== ''), port].join(',');
}

function portsOf(containers: Value, includes: (name: string) => boolean): string {
  const ports: string[] = [];
  for (const container of listArgument(containers).map(toJson)) {
    if (!isObject(container) || !includes(show(fromJson(container.name ?? '')))) continue;
    for (const port of Array.isArray(container.ports) ? (container.ports as readonly Json[]) : []) {
      if (isObject(port) && port.protocol !== 'UDP' && port.protocol !== 'SCTP') ports.push(String(port.containerPort));
    }
  }
  return ports.join(',');
}

/** A list of Multus networks, as text with commas or as JSON. */
function withNetwork(existing: string, network: string): string {
  if (existing === '') return network;
  const end = existing.lastIndexOf(']');
  if (end < 0) {
    const known = existing.split(',').some(part => part.trim() === network);
    return known ? existing : `${existing}, ${network}`;
  }
  const networks = parsed(existing);
  if (!Array.isArray(networks)) return existing;
  const slash = network.indexOf('/');
  const [namespace, name] = slash < 0 ? ['', network] : [network.slice(0, slash), network.slice(slash + 1)];
  const isKnown = (networks as readonly Json[]).some(
    one => isObject(one) && one.name === name && (one.namespace ?? '') === namespace,
  );
  if (isKnown) return existing;
  const added = namespace === '' ? `{"name": "${name}"}` : `{"name": "${name}", "namespace": "${namespace}"}`;
  return `${existing.slice(0, end)}, ${added}${existing.slice(end)}`;
}
