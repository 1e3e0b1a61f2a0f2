// envoy.extensions.path.match.uri_template.v3: `*` stands for one segment, `**` for any number of characters with
// slashes, `{name}` and `{name=pattern}` for the same with a name. Everything else stands for itself (Envoy's
// source/extensions/path/uri_template_lib).

import { matchesRegex } from './regex.ts';

/** Characters of a segment: unreserved, escapes and the delimiters that Envoy takes. */
const SEGMENT = "[a-zA-Z0-9._~%!$&'()+,;:@=-]+";
const ANY_SEGMENTS = "[a-zA-Z0-9._~%!$&'()+,;:@=/-]*";

/** `path`: without query and fragment. */
export function matchesTemplate(template: string, path: string): boolean {
  return matchesRegex({ regex: patternOf(template) }, path);
}

function patternOf(template: string): string {
  return template.replace(/\{[^{}=]*(?:=([^{}]*))?\}|\*\*|\*|[^{}*]+/g, (part, named: string | undefined) => {
    if (part === '**') return ANY_SEGMENTS;
    if (part === '*') return SEGMENT;
    if (part.startsWith('{')) return named === undefined ? SEGMENT : patternOf(named);
    return part.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
  });
}
