// The traffic extensions of a proxy: TrafficExtensions, and WasmPlugins, each of which counts as a TrafficExtension of
// the name `<name>~istio-translated-wasmplugin`.
// Source: Istio pilot/pkg/config/kube/extensions, pilot/pkg/model/extensions.go, pilot/pkg/model/push_context.go
// (TrafficExtensions).
//
// An extension that can do nothing (no module, code of no or too great length) is none. The order is that of Istio:
// by phase, in it by priority, then those of the proxy's namespace before those of the root namespace, then by age.

import { joined } from '../../base/groups.ts';
import { type Aged, byAge, type Obj } from '../../model/object.ts';
import { LIGHT_BLOCKS, selectInBlocks } from '../../query/in-blocks.ts';
import type { ProxyReader, Query, Selection } from '../../query/reader.ts';
import { parseUrl } from '../../schema/go-url.ts';
import type { TrafficSelector, WasmConfig } from '../../schema/istio-types.gen.ts';
import { type Attachable, isAttached, namespaceOf } from '../policy/attachment.ts';
import type { PolicySubject } from '../telemetry/traffic-class.ts';

export type ExtensionPhase = 'UNSPECIFIED' | 'AUTHN' | 'AUTHZ' | 'STATS';

export interface WasmCode {
  readonly kind: 'wasm';
  readonly network: boolean;
  readonly config: WasmConfig;
}

export interface Extension {
  readonly namespace: string;
  /** With the ending of a WasmPlugin. */
  readonly name: string;
  readonly phase: ExtensionPhase;
  /** NO_PRIORITY if it has none. */
  readonly priority: number;
  /** Empty: all traffic. */
  readonly match: readonly TrafficSelector[];
  readonly attachment: Attachable;
  readonly code: { readonly kind: 'lua'; readonly source: string } | WasmCode;
  /** Proxies with an agent fetch a module anew when it changes. */
  readonly resourceVersion: string;
}

/** Below every priority that can be written. (The text of the API says 0.) */
export const NO_PRIORITY = Number.NEGATIVE_INFINITY;
export const PLUGIN_SUFFIX = '~istio-translated-wasmplugin';
const PREFIX = 'extensions.istio.io/trafficextension/';
const LUA_BYTES_MAX = 65_536;

/** The name of the filter in every listener, and of its configuration over ECDS. */
export function filterNameOf({ namespace, name }: Pick<Extension, 'namespace' | 'name'>): string {
  return `${PREFIX}${namespace}.${name}`;
}

/** The reverse of `filterNameOf`; undefined for a filter that is no traffic extension. */
export function parseFilterName(filter: string): Pick<Extension, 'namespace' | 'name'> | undefined {
  if (!filter.startsWith(PREFIX)) return undefined;
  const dot = filter.indexOf('.', PREFIX.length);
  return dot < 0 ? undefined : { namespace: filter.slice(PREFIX.length, dot), name: filter.slice(dot + 1) };
}

/**
 * The extensions that are attached to the proxy, or to the argument, which is what the traffic is for; in order.
 * `match` is left to each chain.
 */
export const extensionsOfProxy: Query<PolicySubject, readonly Extension[]> = {
  name: 'select/extensionsOfProxy',
  run: (reader, subject) => {
    const places = [reader.facet('namespace'), reader.mesh('rootNamespace'), namespaceOf(subject)];
    const namespaces = new Set(places.filter(place => place !== ''));
    const attached = joined([...namespaces].map(namespace => attachedIn(reader, namespace, subject)));
    // Sorting is stable: equal priorities stay in the order of the candidates.
    return attached.sort((a, b) => (a.priority === b.priority ? 0 : b.priority > a.priority ? 1 : -1));
  },
};

/** By age; the name of a WasmPlugin counts with its ending. */
function attachedIn(reader: ProxyReader, namespace: string, subject: PolicySubject): readonly Extension[] {
  const prefix = `${namespace}/`;
  const named = [
    ...reader.objects('TrafficExtension', prefix).map(obj => ({ obj, age: obj as Aged })),
    ...reader.objects('WasmPlugin', prefix).map(obj => ({ obj, age: ageOfPlugin(obj) })),
  ];
  const objects = named.sort((a, b) => byAge(a.age, b.age)).map(({ obj }) => obj);
  return selectInBlocks(reader, attachedOf, objects, LIGHT_BLOCKS, block => ({ objects: block, subject }));
}

function ageOfPlugin({ creationTime, name, namespace }: Obj<'WasmPlugin'>): Aged {
  return { creationTime, name: name + PLUGIN_SUFFIX, namespace };
}

const attachedOf: Selection<
  { readonly objects: readonly Source[]; readonly subject: PolicySubject },
  readonly Extension[]
> = {
  name: 'select/attachedExtensions',
  run: (reader, { objects, subject }) =>
    objects.flatMap(obj => {
      const extension = extensionOf(reader, obj);
      const isOurs = extension !== undefined && isAttached(reader, extension.namespace, extension.attachment, subject);
      return isOurs ? [extension] : [];
    }),
};

/** The extension that a filter is named after, attached or not; undefined: there is none. */
export function extensionNamed(
  reader: ProxyReader,
  { namespace, name }: Pick<Extension, 'namespace' | 'name'>,
): Extension | undefined {
  const obj = name.endsWith(PLUGIN_SUFFIX)
    ? reader.object('WasmPlugin', `${namespace}/${name.slice(0, -PLUGIN_SUFFIX.length)}`)
    : reader.object('TrafficExtension', `${namespace}/${name}`);
  return obj === undefined ? undefined : extensionOf(reader, obj);
}

type Source = Obj<'TrafficExtension'> | Obj<'WasmPlugin'>;

function extensionOf(reader: ProxyReader, obj: Source): Extension | undefined {
  return obj.kind === 'WasmPlugin' ? reader.select(ofPlugin, { obj }) : reader.select(ofExtension, { obj });
}

const ofPlugin: Selection<{ readonly obj: Obj<'WasmPlugin'> }, Extension | undefined> = {
  name: 'select/extensionOfPlugin',
  run: (_reader, { obj }) => {
    const { selector, targetRef, targetRefs, phase, priority, match, ...config } = obj.spec;
    if (!isUsableUrl(config.url)) return undefined;
    return {
      namespace: obj.namespace,
      name: obj.name + PLUGIN_SUFFIX,
      phase: phase === undefined || phase === 'UNSPECIFIED_PHASE' ? 'UNSPECIFIED' : phase,
      priority: priority ?? NO_PRIORITY,
      match: match ?? [],
      attachment: { selector, targetRef, targetRefs },
      code: { kind: 'wasm', network: config.type === 'NETWORK', config },
      resourceVersion: obj.resourceVersion,
    };
  },
};

const ofExtension: Selection<{ readonly obj: Obj<'TrafficExtension'> }, Extension | undefined> = {
  name: 'select/extensionOfObject',
  run: (_reader, { obj }) => {
    const { selector, targetRefs, phase, priority, match, wasm, lua } = obj.spec;
    const code = wasm === undefined ? luaCode(lua?.inlineCode ?? '') : wasmCode(wasm);
    if (code === undefined) return undefined;
    return {
      namespace: obj.namespace,
      name: obj.name,
      phase: phase ?? 'UNSPECIFIED',
      priority: priority ?? NO_PRIORITY,
      match: match ?? [],
      attachment: { selector, targetRefs },
      code,
      resourceVersion: obj.resourceVersion,
    };
  },
};

function luaCode(source: string): Extension['code'] | undefined {
  return source === '' || utf8Length(source) > LUA_BYTES_MAX ? undefined : { kind: 'lua', source };
}

function wasmCode(config: WasmConfig): Extension['code'] | undefined {
  return isUsableUrl(config.url) ? { kind: 'wasm', network: config.type === 'NETWORK', config } : undefined;
}

function isUsableUrl(url: string | undefined): boolean {
  return url !== undefined && url !== '' && parseUrl(url) !== undefined;
}

function utf8Length(text: string): number {
  let length = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    length += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return length;
}
