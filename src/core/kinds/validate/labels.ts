// Labels and the keys of annotations: `prefix/name` and values. Source: k8s.io/apimachinery pkg/util/validation (IsQualifiedName,
// IsValidLabelValue); Istio pkg/config/labels accepts the same.

import { quoted, type Report } from '../report.ts';
import { isDns1123Subdomain } from './names.ts';

const NAME_LENGTH_MAX = 63;
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

export function checkLabels(labels: Readonly<Record<string, string>>, path: string, report: Report): void {
  for (const key of Object.keys(labels)) {
    const value = labels[key]!;
    if (!isLabelKey(key)) report(path, `${quoted(key)} is not a label key: expected [prefix/]name`);
    if (!isLabelValue(value)) {
      report(
        `${path}[${key}]`,
        `${quoted(value)} is not a label value: expected at most 63 letters, digits, "-", "_" and "."`,
      );
    }
  }
}

/** Annotation keys may be in upper case; their values may be anything. */
export function checkAnnotationKey(key: string, path: string, report: Report): void {
  if (!isLabelKey(key.toLowerCase())) report(path, `${quoted(key)} is not an annotation key: expected [prefix/]name`);
}

export function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash >= 0 && !isDns1123Subdomain(key.slice(0, slash))) return false;
  // A second slash is none of the letters of a name.
  const name = slash < 0 ? key : key.slice(slash + 1);
  return name.length <= NAME_LENGTH_MAX && NAME.test(name);
}

export function isLabelValue(value: string): boolean {
  return value === '' || (value.length <= NAME_LENGTH_MAX && NAME.test(value));
}
