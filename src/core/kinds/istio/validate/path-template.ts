// Paths of operations: exact or with one wildcard (which is matched as text), or templates of whole segments `{*}` and
// a last `{**}`.
// Source: Istio pkg/config/security (CheckValidPathTemplate); Envoy's URI template matcher; RFC 3986 (pchar).

import { trimmed } from '../../../base/trim.ts';
import { quoted, type Report } from '../../report.ts';

const ONE = '{*}';
const ANY = '{**}';
const LITERAL = /^[a-zA-Z0-9\-._~%!$&'()+,;:@=]+$/;

export function checkPathTemplate(path: string, at: string, report: Report): void {
  // Without braces there is no template, and nothing to look for segment by segment.
  if (!/[{}]/.test(path)) return;
  const template = path.includes(ONE) || path.includes(ANY);
  let ended = false;
  for (const segment of trimmed(path, '/').split('/')) {
    if (segment === ONE || segment === ANY) {
      if (ended) {
        report(at, `${quoted(path)}: nothing that matches may follow ${ANY}`);
        return;
      }
      ended = segment === ANY;
    } else if (/[{}]/.test(segment)) {
      report(at, `${quoted(path)}: braces are for whole segments ${ONE} and ${ANY} only`);
      return;
    } else if (template && !LITERAL.test(segment)) {
      report(at, `${quoted(path)}: ${quoted(segment)} cannot be a segment of a template`);
      return;
    }
  }
}
