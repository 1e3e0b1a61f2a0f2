// The configuration of the injector: policy, templates and values, as the ConfigMap of an installation has them.
//
// Templates and values are the user's data: read from the cluster or a file as any object, or the small ones of this
// project where there are none. A configuration is taken whole or not at all: one template that cannot be parsed
// refuses it. Source: Istio pkg/kube/inject/inject.go (UnmarshalConfig), watcher.go.

import { type Either, isLeft, left, right } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import type { Query, Reader } from '../../core/query/reader.ts';
import type { LabelSelector } from '../../core/schema/istio-types.gen.ts';
import { TEMPLATE_CHARS_MIN, TEMPLATES_CHARS_MAX } from '../template/limits.ts';
import { parseTemplate, type Templates } from '../template/template.ts';
import { ownConfig, ownValues } from '../templates/own.ts';
import { objectsOfText } from './config-texts.ts';

export interface InjectorSetup {
  readonly policy: string;
  readonly defaultTemplates: readonly string[];
  readonly templates: { readonly [name: string]: Templates };
  /** The templates as they were written. */
  readonly texts: { readonly [name: string]: string };
  /** One name for several templates; not expanded again. */
  readonly aliases: { readonly [name: string]: readonly string[] };
  readonly neverInject: readonly LabelSelector[];
  readonly alwaysInject: readonly LabelSelector[];
  readonly injectedAnnotations: { readonly [name: string]: string };
  readonly values: JsonObject;
}

/** The ConfigMap of a revision, in the system namespace. */
export function injectorConfigMap(revision: string): string {
  return revision === '' || revision === 'default' ? 'istio-sidecar-injector' : `istio-sidecar-injector-${revision}`;
}

/** Left: why the ConfigMap of this revision cannot be used. Without one, the templates of this project. */
export const injectorSetup: Query<'', Either<string, InjectorSetup>> = {
  name: 'injector-setup',
  run: reader => {
    const { name, data } = injectorData(reader);
    if (data === undefined) return reader.get(ownSetup, '');
    if (data.config === undefined) return left(`ConfigMap ${name} has no key config`);
    if (data.values === undefined) return left(`ConfigMap ${name} has no key values`);
    const setup = readSetup(data.config, data.values);
    return isLeft(setup) ? left(`ConfigMap ${name}: ${setup.left}`) : setup;
  },
};

/** The ConfigMap `namespace/name` of this revision, if it is not there. */
export const missingInjector: Query<'', string | undefined> = {
  name: 'injector-missing',
  run: reader => {
    const { name, data } = injectorData(reader);
    return data === undefined ? name : undefined;
  },
};

const ownSetup: Query<'', Either<string, InjectorSetup>> = {
  name: 'injector-setup-own',
  run: reader => {
    const system = reader.setting('systemNamespace');
    const revision = reader.setting('revision');
    const env = { ENABLE_CLUSTER_TRUST_BUNDLE_API: reader.feature('ENABLE_CLUSTER_TRUST_BUNDLE_API') };
    return decoded(ownConfig, ownValues({ system, revision, cluster: reader.setting('clusterId'), env }));
  },
};

function injectorData(reader: Reader) {
  const system = reader.setting('systemNamespace');
  const name = injectorConfigMap(reader.setting('revision'));
  const found = reader.object('ConfigMap', `${reader.setting('clusterId')}/${system}/${name}`);
  return { name: `${system}/${name}`, data: found?.spec.data };
}

export function readSetup(config: string, values: string): Either<string, InjectorSetup> {
  const [ofConfig, ofValues] = [objectsOfText(config), objectsOfText(values)];
  if (isLeft(ofConfig)) return left(`config: ${ofConfig.left}`);
  if (isLeft(ofValues)) return left(`values: ${ofValues.left}`);
  return decoded(ofConfig.right[0] ?? {}, ofValues.right[0] ?? {});
}

function decoded(config: JsonObject, values: JsonObject): Either<string, InjectorSetup> {
  const templates: [string, Templates][] = [];
  const texts: [string, string][] = [];
  let chars = 0;
  for (const [name, text] of Object.entries(isObject(config.templates) ? config.templates : {})) {
    if (typeof text !== 'string') return left(`config: templates.${name} is no text`);
    chars += Math.max(text.length, TEMPLATE_CHARS_MIN);
    if (chars > TEMPLATES_CHARS_MAX) {
      return left(`config: the templates have more than ${TEMPLATES_CHARS_MAX} characters in all`);
    }
    const parsed = parseTemplate(text);
    if (isLeft(parsed)) return left(`config: template ${name}: ${parsed.left}`);
    templates.push([name, parsed.right]);
    texts.push([name, text]);
  }
  const defaults = textList(config.defaultTemplates);
  const aliases = Object.entries(isObject(config.aliases) ? config.aliases : {});
  const annotations = Object.entries(isObject(config.injectedAnnotations) ? config.injectedAnnotations : {});
  return right({
    policy: typeof config.policy === 'string' ? config.policy : '',
    defaultTemplates: defaults.length === 0 ? ['sidecar'] : defaults,
    templates: Object.fromEntries(templates),
    texts: Object.fromEntries(texts),
    aliases: Object.fromEntries(aliases.map(([name, names]) => [name, textList(names)])),
    neverInject: selectors(config.neverInjectSelector),
    alwaysInject: selectors(config.alwaysInjectSelector),
    injectedAnnotations: Object.fromEntries(annotations.map(([name, text]) => [name, String(text)])),
    values,
  });
}

function textList(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(one => typeof one === 'string') : [];
}

function selectors(value: Json | undefined): readonly LabelSelector[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject).map(one => one as LabelSelector) : [];
}
