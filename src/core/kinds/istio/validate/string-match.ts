// StringMatch: exact, prefix or regex. Source: Istio pkg/config/validation (validateStringMatch).

import type { StringMatch } from '../../../schema/istio-types.gen.ts';
import type { Report } from '../../report.ts';
import { checkRegex } from './regex.ts';

/** Only of a URI everything can be the prefix: the empty one. */
export function checkStringMatch(
  match: StringMatch | undefined,
  path: string,
  report: Report,
  emptyPrefixAllowed = false,
): void {
  if (match?.prefix === '' && !emptyPrefixAllowed) {
    report(`${path}.prefix`, 'is empty; expected some text, or no match at all');
  }
  if (match?.regex === undefined) return;
  if (match.regex === '') report(`${path}.regex`, 'is empty; expected an expression');
  else checkRegex(match.regex, `${path}.regex`, report);
}
