// What authors of Telemetry and of Wasm modules should know: objects that another one hides, and settings that have no
// effect as they are written. All of it is valid; nothing here is an error.
//
// References to providers and Secrets that do not exist are in another list (scope/references.ts).

import { byAge, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { ProviderRef, WasmConfig } from '../../schema/istio-types.gen.ts';
import { providerCluster } from './provider-cluster.ts';
import { extensionProvider, isNamespaceWide } from './telemetry.ts';

export interface TelemetryFinding {
  readonly kind: 'Telemetry' | 'TrafficExtension' | 'WasmPlugin';
  readonly key: string;
  readonly path: string;
  readonly message: string;
}

type Told = Pick<TelemetryFinding, 'path' | 'message'>;

/** Argument ''. In the order of kinds and objects. */
export const telemetryFindings: Query<'', readonly TelemetryFinding[]> = {
  name: 'select/telemetryFindings',
  run: reader => {
    const all = reader.objects('Telemetry');
    const oldest = oldestOfNamespaces(all);
    return [
      ...all.flatMap(one => [...ofLevel(one, oldest), ...ofEntries(reader, one)].map(of(one))),
      ...reader
        .objects('TrafficExtension')
        .flatMap(one => [...ofModule(reader, one, 'spec.wasm', one.spec.wasm ?? {})].map(of(one))),
      ...reader.objects('WasmPlugin').flatMap(one => [...ofModule(reader, one, 'spec', one.spec)].map(of(one))),
    ];
  },
};

const of =
  ({ kind, namespace, name }: Obj<TelemetryFinding['kind']>) =>
  (told: Told): TelemetryFinding => ({ kind, key: `${namespace}/${name}`, ...told });

/** Namespace → the oldest object for the whole of it. */
function oldestOfNamespaces(all: readonly Obj<'Telemetry'>[]): ReadonlyMap<string, Obj<'Telemetry'>> {
  const oldest = new Map<string, Obj<'Telemetry'>>();
  for (const one of all.filter(({ spec }) => isNamespaceWide(spec)).sort(byAge)) {
    if (!oldest.has(one.namespace)) oldest.set(one.namespace, one);
  }
  return oldest;
}

/** Of the objects for a whole namespace the oldest counts. */
function* ofLevel(
  one: Obj<'Telemetry'>,
  oldestByNamespace: ReadonlyMap<string, Obj<'Telemetry'>>,
): IterableIterator<Told> {
  const oldest = oldestByNamespace.get(one.namespace);
  if (!isNamespaceWide(one.spec) || oldest === undefined || oldest === one) return;
  const message = `has no effect: ${oldest.name} is older, and one Telemetry counts for a whole namespace`;
  yield { path: 'spec.selector', message };
}

/** The members of a provider that serve each list of a Telemetry. */
const PURPOSES = {
  accessLogging: ['envoyFileAccessLog', 'envoyHttpAls', 'envoyTcpAls', 'envoyOtelAls'],
  metrics: ['prometheus'],
  tracing: ['zipkin', 'datadog', 'skywalking', 'opentelemetry'],
} as const;
type Purpose = keyof typeof PURPOSES;

function* ofEntries(reader: Reader, { spec }: Obj<'Telemetry'>): IterableIterator<Told> {
  for (const purpose of Object.keys(PURPOSES) as Purpose[]) {
    for (const [i, { providers = [] }] of (spec[purpose] ?? []).entries()) {
      yield* ofProviders(reader, purpose, `spec.${purpose}[${i}].providers`, providers);
    }
  }
  for (const [i, { filter, providers = [] }] of (spec.accessLogging ?? []).entries()) {
    if (filter === undefined || providers.length > 0) continue;
    const message = 'has no effect: a filter is that of the providers which its own entry names';
    yield { path: `spec.accessLogging[${i}].filter`, message };
  }
}

function* ofProviders(
  reader: Reader,
  purpose: Purpose,
  path: string,
  providers: readonly ProviderRef[],
): IterableIterator<Told> {
  for (const [j, { name = '' }] of providers.entries()) {
    const at = `${path}[${j}].name`;
    if (purpose === 'tracing' && j > 0) {
      yield { path: at, message: 'has no effect: one provider traces, the first of the entry' };
      continue;
    }
    const definition = extensionProvider(reader, name);
    if (definition === undefined) continue;
    const member = PURPOSES[purpose].find(candidate => definition[candidate] !== undefined);
    if (member === undefined) yield { path: at, message: `provider ${name} is of no type for ${purpose}` };
    else yield* ofCollector(reader, at, name, (definition[member] ?? {}) as Collector);
  }
}

/** Of the providers that send somewhere. */
interface Collector {
  readonly service?: string;
  readonly port?: number;
}

function* ofCollector(
  reader: Reader,
  path: string,
  name: string,
  { service, port = 0 }: Collector,
): IterableIterator<Told> {
  if (service === undefined || providerCluster(reader, service, port) !== undefined) return;
  yield { path, message: `the collector of provider ${name} is not found: there is no one service ${service}` };
}

const PULL_TYPE = 'kubernetes.io/dockerconfigjson';

function* ofModule(
  reader: Reader,
  { namespace }: Obj,
  path: string,
  { verificationKey = '', imagePullSecret = '' }: WasmConfig,
): IterableIterator<Told> {
  if (verificationKey !== '') yield { path: `${path}.verificationKey`, message: 'has no effect: nothing reads it' };
  if (imagePullSecret.includes('/')) {
    const message = `the Secret is looked for in ${namespace}, whatever namespace is written`;
    yield { path: `${path}.imagePullSecret`, message };
    return;
  }
  const secret = reader.object('Secret', `${reader.setting('clusterId')}/${namespace}/${imagePullSecret}`);
  if (secret === undefined || secret.spec.type === PULL_TYPE) return;
  const message = `Secret ${imagePullSecret} is of type ${secret.spec.type}, not ${PULL_TYPE}: the module is not pulled`;
  yield { path: `${path}.imagePullSecret`, message };
}
