// Every function of an injection or gateway template: Go's own, sprig's, and Istio's, which replace sprig's.

import { type Functions, SHORT_CIRCUIT } from '../evaluate.ts';
import { builtins } from './builtins.ts';
import { collections } from './collections.ts';
import { istio } from './istio.ts';
import { numbers } from './numbers.ts';
import { paths } from './paths.ts';
import { regex } from './regex.ts';
import { semver } from './semver.ts';
import { strings } from './strings.ts';
import { textForms } from './text-forms.ts';

/** Functions of sprig with a second name, `mustAppend`: under both names they report their errors here. */
const WITH_MUST: readonly string[] = [
  'append',
  'chunk',
  'compact',
  'deepCopy',
  'first',
  'has',
  'initial',
  'last',
  'merge',
  'mergeOverwrite',
  'prepend',
  'push',
  'regexFind',
  'regexFindAll',
  'regexReplaceAll',
  'regexReplaceAllLiteral',
  'regexSplit',
  'rest',
  'reverse',
  'slice',
  'toJson',
  'toPrettyJson',
  'toRawJson',
  'uniq',
  'without',
];

const plain = new Map(
  [strings, textForms, paths, regex, semver, numbers, collections, builtins, istio].flatMap(functions =>
    Object.entries(functions),
  ),
);

export const templateFunctions: Functions = new Map([
  ...plain,
  ...WITH_MUST.map(name => [`must${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, plain.get(name)!] as const),
]);

export function isTemplateFunction(name: string): boolean {
  return templateFunctions.has(name) || SHORT_CIRCUIT.includes(name);
}
