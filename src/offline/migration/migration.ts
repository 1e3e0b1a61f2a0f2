// What would change if a Periplus took the place of the istiod of a mesh, object by object: settings and objects that
// it does not support, from files, a cluster or a journal. The rules stand beside this file, one file for each part of
// an installation; docs/deviations.md has the same in prose.
//
// What the state knows is added: objects that are refused here and in force in istiod, kinds without effect, policies
// that cannot be enforced, patches that are left out, and kubeconfigs that are not used.

import { analyze } from '../../analysis/analyze.ts';
import type { Message } from '../../analysis/message.ts';
import { analyzedObjects, type Received } from '../../analysis/objects.ts';
import * as per from '../../analysis/per.ts';
import { isObject } from '../../core/base/json.ts';
import { clusterSources, remoteClusters } from '../../core/clusters/remote-clusters.ts';
import type { State } from '../../core/state.ts';
import { type AnalysisRequest, type AnalysisResult, messagesOf, patchesOf, subjectOf } from '../analysis.ts';
import { analysisContext } from '../analysis-input.ts';
import { type Finding, findingsOf } from '../findings.ts';
import type { Found } from './found.ts';
import { injectorFindings } from './injector.ts';
import { meshFindings } from './mesh.ts';
import { objectFindings } from './objects.ts';
import { hasProcess, processFindings } from './process.ts';

export interface Migration extends AnalysisResult {
  /** Parts of an installation that the input does not show. */
  readonly unseen: readonly string[];
}

export interface MigrationRequest extends Pick<AnalysisRequest, 'now' | 'suppressions'> {
  /** The long names of the flags that `periplus serve` has. */
  readonly flags: readonly string[];
}

/** Of findings, those that name a difference to istiod. */
const DIFFERENCES: readonly Finding['code'][] = [
  'refused',
  'not-yet',
  'not-enforceable',
  'guarded',
  'patch-left-out',
  'patch-refused',
];

/** `objects`: those that `state` was folded from. */
export function migrationOf(
  state: State,
  objects: readonly Received[],
  { flags, now, suppressions = [] }: MigrationRequest,
): Migration {
  const found = [
    ...processFindings(objects, flags),
    ...meshFindings(state, objects),
    ...injectorFindings(state, objects),
    ...objectFindings(objects),
    ...clusterFindings(state, objects),
  ];
  const said = found.map(({ level, text, received, path }): Message => {
    const wording = level === 'Error' ? per.notSupported(text) : per.actsDifferently(text);
    return { ...wording, item: subjectOf(received), ...(path === undefined ? {} : { path }) };
  });
  const patches = patchesOf(state, objects);
  const known = findingsOf(state, patches).filter(({ code }) => DIFFERENCES.includes(code));
  const further = [...said, ...messagesOf(known, objects)];
  const analysis = analyze(analyzedObjects(objects, analysisContext(state, now)), [], { suppressions, further });
  return { ...analysis, objects: objects.length, patches, unseen: unseen(objects) };
}

function clusterFindings(state: State, objects: readonly Received[]): readonly Found[] {
  const { clusters } = remoteClusters(clusterSources(state));
  return clusters.flatMap(({ id, secret, refused }): readonly Found[] => {
    const received = objects.find(({ object: { kind, metadata } }) => {
      return kind === 'Secret' && isObject(metadata) && `${metadata.namespace}/${metadata.name}` === secret;
    });
    if (refused === undefined || received === undefined) return [];
    return [{ level: 'Error', text: `cluster ${id} is not watched: ${refused}`, received }];
  });
}

function unseen(objects: readonly Received[]): readonly string[] {
  if (hasProcess(objects)) return [];
  return ['the environment and the flags of istiod: there is neither its Deployment nor a pod of it'];
}
