// The texts of the injector's ConfigMap, parsed outside the event loop's thread within the budget of files, before the
// ConfigMap is recorded. The queries that read it then find them parsed (config-texts.ts).
//
// A version with a text past the budget is not recorded: in its place stands why, and the version on record stays in
// force. So what a budget of time refuses is in the journal, and every replay of it gives the same.

import { isLeft } from 'fp-ts/lib/Either.js';
import type { FileParser } from '../adapters/file/file-parser.ts';
import { isKnown, knownObjects } from '../admission/inject/config-texts.ts';
import { injectorConfigMap } from '../admission/inject/setup.ts';
import { isObject } from '../core/base/json.ts';
import type { Fact, ObjectRef } from '../core/event.ts';
import { rawRef } from '../core/fold/novelty.ts';
import { clusterOf } from '../core/fold/record.ts';
import type { Settings } from '../core/mesh/settings.ts';
import { kubernetesKey, type Obj } from '../core/model/object.ts';
import type { State } from '../core/state.ts';

const KEYS = ['config', 'values'] as const;

/** Why texts cannot be read, by text. */
export type UnreadTexts = ReadonlyMap<string, string>;

/** A batch in which refused versions are replaced, and the objects that are on record in another version. */
export interface ReadBatch {
  readonly batch: readonly Fact[];
  readonly kept: readonly ObjectRef[];
}

export class InjectorTexts {
  readonly #parser: Pick<FileParser, 'objects' | 'isClosed'>;

  constructor(parser: Pick<FileParser, 'objects' | 'isClosed'>) {
    this.#parser = parser;
  }

  /** Parses the texts that are not known; rejects once the parser is closed. */
  async read(texts: readonly string[]): Promise<UnreadTexts> {
    const unread = new Map<string, string>();
    for (const text of texts) {
      if (isKnown(text)) continue;
      const objects = await this.#parser.objects(text);
      if (this.#parser.isClosed) throw new Error('the control plane is stopping');
      if (isLeft(objects)) unread.set(text, objects.left);
      else knownObjects(text, objects.right);
    }
    return unread;
  }
}

/** The texts that the facts of a batch need to be read, as far as they are not known. */
export function injectorTexts(settings: Settings, source: string, batch: readonly Fact[]): readonly string[] {
  const texts = batch.flatMap(fact => (isInjector(settings, source, fact) ? Object.values(textsOf(fact)) : []));
  return texts.filter(text => !isKnown(text));
}

/** The texts of the ConfigMap in force, as far as they are not known. */
export function injectorTextsInForce({ settings, objects }: Pick<State, 'settings' | 'objects'>): readonly string[] {
  const { clusterId, systemNamespace, revision } = settings;
  const key = kubernetesKey(clusterId, systemNamespace, injectorConfigMap(revision));
  const { config = '', values = '' } = (objects.ConfigMap.get(key) as Obj<'ConfigMap'> | undefined)?.spec.data ?? {};
  return [config, values].filter(text => !isKnown(text));
}

/** The batch without the versions that cannot be read; each ConfigMap of the injector is followed by why, or by not. */
export function withoutUnread(
  settings: Settings,
  source: string,
  all: readonly Fact[],
  unread: UnreadTexts,
): ReadBatch {
  const kept: ObjectRef[] = [];
  const batch = all.flatMap(fact => {
    if (!isInjector(settings, source, fact)) return [fact];
    const texts = textsOf(fact);
    const ref = refOf(fact)!;
    const isUnread = Object.values(texts).some(text => unread.has(text));
    if (isUnread) kept.push(ref);
    const said = KEYS.map((key): Fact => {
      const reason = unread.get(texts[key] ?? '');
      return {
        kind: 'Malformed',
        origin: { file: placeOf(fact, ref, key) },
        reasons: reason === undefined ? [] : [reason],
      };
    });
    return isUnread ? said : [fact, ...said];
  });
  return { batch, kept };
}

function isInjector({ clusterId, systemNamespace, revision }: Settings, source: string, fact: Fact): boolean {
  const ref = refOf(fact);
  if (ref?.kind !== 'ConfigMap' || ref.apiVersion !== 'v1' || clusterOf(source) !== clusterId) return false;
  return ref.namespace === systemNamespace && ref.name === injectorConfigMap(revision);
}

function refOf(fact: Fact): ObjectRef | undefined {
  if (fact.kind === 'Delete') return fact.ref;
  return fact.kind === 'Add' || fact.kind === 'Update' ? rawRef(fact.object) : undefined;
}

function textsOf(fact: Fact): { readonly [key in (typeof KEYS)[number]]?: string } {
  const data = fact.kind === 'Add' || fact.kind === 'Update' ? fact.object.data : undefined;
  const { config, values } = isObject(data) ? data : {};
  return {
    ...(typeof config === 'string' ? { config } : {}),
    ...(typeof values === 'string' ? { values } : {}),
  };
}

function placeOf(fact: Fact, { namespace, name }: ObjectRef, key: string): string {
  const origin = fact.kind === 'Add' || fact.kind === 'Update' ? fact.origin : undefined;
  return `${origin?.file ?? `ConfigMap/${namespace}/${name}`} data.${key}`;
}
