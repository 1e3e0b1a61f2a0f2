// StringMatch: exact, prefix or regex. Source: Istio pkg/config/validation (validateStringMatch).

import type { StringMatch } from '../../schema/istio-types.gen.ts';
import type { Report } from '../report.ts';
import { checkRegex } from './regex.ts';

export function checkStringMatch(match: StringMatch | undefined, path: string, report: Report): void {
  if (match?.regex === undefined) return;
  if (match.regex === '') report(`${path}.regex`, 'is empty; expected an expression');
  else checkRegex(match.regex, `${path}.regex`, report);
}
