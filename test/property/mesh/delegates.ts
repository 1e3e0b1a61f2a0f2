// VirtualServices that leave rules to others: the delegate's rules stand where the rule was, each narrowed by its
// conditions, and take from it what they do not say themselves. A name is short in the namespace of the object that
// says it, so destinations are written out before they are mixed.

import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import { fullHost, listIn, nameOf, namespaceOf, objectIn, specOf, textIn, textsIn } from './read.ts';
import { isExported } from './services.ts';
import type { World } from './world.ts';

/** What a delegate's rule takes from the rule that it stands for. */
const INHERITED = [
  'rewrite',
  'directResponse',
  'timeout',
  'retries',
  'fault',
  'mirror',
  'mirrors',
  'mirrorPercentage',
  'corsPolicy',
  'headers',
] as const;
const WHOLE_CONDITIONS = ['uri', 'scheme', 'method', 'authority', 'port', 'sourceNamespace', 'gateways'] as const;
const NAMED_CONDITIONS = ['headers', 'withoutHeaders', 'queryParams', 'sourceLabels'] as const;

/** The VirtualService as its workloads meet it; itself if it delegates nothing. */
export function withDelegates(root: JsonObject, { objects, mesh }: World): JsonObject {
  const rules = listIn(specOf(root).http);
  if (rules.every(({ delegate }) => delegate === undefined)) return root;
  const from = namespaceOf(root);
  const found = (name: string, namespace: string): JsonObject | undefined =>
    objects.find(
      one =>
        one.kind === 'VirtualService' &&
        nameOf(one) === name &&
        namespaceOf(one) === namespace &&
        textsIn(specOf(one).hosts).length === 0 &&
        isExported(textsIn(specOf(one).exportTo), mesh.defaultVirtualServiceExportTo, namespace, from),
    );
  const http = rules.flatMap((rule): readonly JsonObject[] => {
    const written = inFull(rule, from);
    if (rule.delegate === undefined) return [written];
    const { name, namespace } = objectIn(rule.delegate);
    const delegate = found(textIn(name), textIn(namespace) || from);
    // One level only: what a delegate delegates is not followed.
    return listIn(specOf(delegate ?? {}).http).flatMap(one =>
      standingFor(written, inFull(one, namespaceOf(delegate!))),
    );
  });
  return { ...root, spec: { ...specOf(root), http } };
}

function inFull(rule: JsonObject, namespace: string): JsonObject {
  const named = (destination: Json | undefined): JsonObject => {
    const given = objectIn(destination);
    return { ...given, host: fullHost(textIn(given.host), namespace) };
  };
  return {
    ...rule,
    ...(rule.route === undefined
      ? {}
      : { route: listIn(rule.route).map(one => ({ ...one, destination: named(one.destination) })) }),
    ...(rule.mirror === undefined ? {} : { mirror: named(rule.mirror) }),
  };
}

/** The delegate's rule, or none if a condition of it is outside of all that it was left. */
function standingFor(outer: JsonObject, inner: JsonObject): readonly JsonObject[] {
  const given = Object.fromEntries(
    INHERITED.flatMap((field): [string, Json][] => {
      const value = inner[field] ?? outer[field];
      return value === undefined ? [] : [[field, value]];
    }),
  );
  const { match: _, delegate: __, ...rest } = inner;
  const [wide, narrow] = [listIn(outer.match), listIn(inner.match)];
  if (wide.length === 0 && narrow.length === 0) return [{ ...rest, ...given }];
  if (wide.length === 0 || narrow.length === 0)
    return [{ ...rest, ...given, match: wide.length === 0 ? narrow : wide }];
  const merged = narrow.map(one => wide.filter(other => isWithin(other, one)).map(other => both(other, one)));
  return merged.some(alternatives => alternatives.length === 0) ? [] : [{ ...rest, ...given, match: merged.flat() }];
}

function both(wide: JsonObject, narrow: JsonObject): JsonObject {
  const whole = WHOLE_CONDITIONS.flatMap((field): [string, Json][] => {
    const value = narrow[field] ?? wide[field];
    return value === undefined ? [] : [[field, value]];
  });
  const named = NAMED_CONDITIONS.flatMap((field): [string, Json][] =>
    wide[field] === undefined && narrow[field] === undefined
      ? []
      : [[field, { ...objectIn(wide[field]), ...objectIn(narrow[field]) }]],
  );
  return { ...narrow, ...Object.fromEntries([...whole, ...named]) };
}

/** Every condition of the narrow match that the wide one has too asks for no more than that. */
function isWithin(wide: JsonObject, narrow: JsonObject): boolean {
  const texts = ['uri', 'scheme', 'method', 'authority'].every(field => allows(wide[field], narrow[field]));
  const named = ['headers', 'withoutHeaders', 'queryParams'].every(field =>
    Object.entries(objectIn(narrow[field])).every(([name, value]) => allows(objectIn(wide[field])[name], value)),
  );
  const labels = Object.entries(objectIn(narrow.sourceLabels)).every(
    ([key, value]) => (objectIn(wide.sourceLabels)[key] ?? value) === value,
  );
  const given = textsIn(wide.gateways);
  const wanted = textsIn(narrow.gateways);
  return (
    texts &&
    named &&
    labels &&
    (wide.ignoreUriCase === true) === (narrow.ignoreUriCase === true) &&
    (wide.port === undefined || narrow.port === undefined || wide.port === narrow.port) &&
    (wide.sourceNamespace === undefined || wide.sourceNamespace === narrow.sourceNamespace) &&
    (given.length === 0 || (given.length >= wanted.length && wanted.every(one => given.includes(one))))
  );
}

/**
 * Regular expressions are not compared: beside another condition they never fit. A condition without a value, for
 * presence, fits nothing either.
 */
function allows(wide: Json | undefined, narrow: Json | undefined): boolean {
  if (wide === undefined || narrow === undefined) return true;
  const [outer, inner] = [objectIn(wide), objectIn(narrow)];
  if (outer.regex !== undefined || inner.regex !== undefined) return false;
  const value = textIn(inner.exact) || textIn(inner.prefix);
  if (typeof outer.exact === 'string') return inner.exact === outer.exact;
  return typeof outer.prefix === 'string' && value !== '' && value.startsWith(outer.prefix);
}
