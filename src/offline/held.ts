// Everything that a proxy holds and that decides where it sends traffic, as generated messages: the input of the
// routing oracle. The entry `periplus/oracle` loads this file on demand (held-in.ts), because it needs the generators.

import { locateInText } from '../adapters/file/locate.ts';
import type { Json, JsonObject } from '../core/base/json.ts';
import { showOrigin, showProblem } from '../core/base/problem.ts';
import type { Effect } from '../core/effect.ts';
import type { Unrecorded } from '../core/event.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import type { ProxyConfig } from '../oracle/question.ts';
import { endpointNames, routeNames } from '../xds/generate/common/watched-names.ts';
import type { Cluster, Listener } from '../xds/proto/types.gen.ts';
import { CDS, EDS, LDS, RDS } from '../xds/session/types.ts';
import { allOf, foldFacts, namedOf, objectFacts, proxyFacts } from './generate.ts';

/** Lists in the order of generation. Resources that the others name are included if they exist. */
export function heldBy(tracker: Tracker, state: State, proxy: ProxyRecord): ProxyConfig {
  const all = <T>(url: string): readonly T[] => allOf(tracker, state, proxy, url).map(({ message }) => message as T);
  const named = <T>(url: string, names: readonly string[]): readonly T[] =>
    names.flatMap(name => {
      const found = namedOf(tracker, state, proxy, url, name);
      return found === undefined ? [] : [found.message as T];
    });
  const [clusters, listeners] = [all<Cluster>(CDS), all<Listener>(LDS)];
  return {
    listeners,
    clusters,
    routes: named(RDS, routeNames(listeners)),
    endpoints: named(EDS, endpointNames(clusters)),
  };
}

/** A mesh, as texts. */
export interface MeshTexts {
  /** File name → YAML or JSON with any number of documents. Messages cite the file name. */
  readonly files: Readonly<Record<string, string>>;
  /** MeshConfig, merged over the built-in default. */
  readonly mesh?: Json;
  /** Environment variables of istiod: feature flags. */
  readonly env?: Readonly<Record<string, string>>;
}

const SOURCE = 'file/Kubernetes';
const CONNECTION = 'asking';

/** As heldIn (held-in.ts), at once. Throws if anything in the mesh is refused. */
export function configIn({ files, mesh, env = {} }: MeshTexts, node: JsonObject): ProxyConfig {
  const bytes = new TextEncoder();
  const facts: Unrecorded[] = [
    { source: 'runtime', kind: 'Engine', settings: { env } },
    ...(mesh === undefined ? [] : [{ source: SOURCE, kind: 'MeshConfig' as const, value: mesh }]),
    ...Object.entries(files).flatMap(([name, text]) => objectFacts(SOURCE, name, bytes.encode(text))),
    ...proxyFacts(CONNECTION, node),
  ];
  const malformed = facts.flatMap(fact =>
    fact.kind === 'Malformed' ? fact.reasons.map(reason => `${showOrigin(fact.origin)}: ${reason}`) : [],
  );
  const { state, effects } = foldFacts(facts);
  const faults = [...malformed, ...effects.flatMap(effect => refusal(effect, files))];
  const proxy = state.proxies.get(CONNECTION);
  if (proxy === undefined) {
    const found = node.id === undefined ? 'it has no id' : `found the id ${JSON.stringify(node.id)}`;
    faults.push(`the node is refused: expected an id type~ip~name~domain with a valid IP address, ${found}`);
  }
  if (proxy === undefined || faults.length > 0) throw new Error(faults.join('\n'));
  return heldBy(new Tracker(), state, proxy);
}

function refusal(effect: Effect, files: MeshTexts['files']): readonly string[] {
  if (effect.kind !== 'Verdict' || effect.accepted) return [];
  const { origin, object } = effect;
  return effect.problems.map(problem => {
    const text = origin === undefined ? undefined : files[origin.file];
    const found = origin === undefined || text === undefined ? undefined : locateInText(origin, text, problem.path);
    const where = origin === undefined ? '' : `${showOrigin(found ?? origin)}: `;
    return `${where}${object} is refused: ${showProblem(problem)}`;
  });
}
