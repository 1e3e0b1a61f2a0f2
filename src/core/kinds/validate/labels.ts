// Labels and the keys of annotations: `prefix/name` and values. Source: k8s.io/apimachinery pkg/util/validation
// (IsQualifiedName, IsValidLabelValue); Istio pkg/config/labels (Validate).

import { keysOf } from '../../base/keys.ts';
import { quoted, type Report } from '../report.ts';
import { isDns1123Subdomain } from './names.ts';

const NAME_LENGTH_MAX = 63;
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * Of one object. A selector of Istio has no more (`maxProperties` of `matchLabels`), so what has more cannot be told
 * apart by them; and a workload is filed under each of its labels.
 */
export const LABELS_MAX = 4_096;

/** Labels of an object. */
export function checkLabels(labels: Readonly<Record<string, string>>, path: string, report: Report): void {
  const keys = keysOf(labels);
  if (keys.length > LABELS_MAX) {
    report(path, `is ${keys.length} labels; at most ${LABELS_MAX} allowed`);
    return;
  }
  for (const key of keys) {
    const value = labels[key]!;
    checkLabelKey(key, path, report);
    if (!isLabelValue(value)) {
      report(
        `${path}[${key}]`,
        `${quoted(value)} is not a label value: expected at most 63 letters, digits, "-", "_" and "."`,
      );
    }
  }
}

/**
 * Labels that stand in the specification of an object of Istio: their values may be long, and the prefix of a key may
 * be in upper case.
 */
export function checkWorkloadLabels(labels: Readonly<Record<string, string>>, path: string, report: Report): void {
  for (const key of keysOf(labels)) {
    const value = labels[key]!;
    if (!isLabelKey(key)) checkLabelKey(withLowerPrefix(key), path, report, key);
    if (value !== '' && !NAME.test(value)) {
      report(`${path}[${key}]`, `${quoted(value)} is not a label value: expected letters, digits, "-", "_" and "."`);
    }
  }
}

function checkLabelKey(key: string, path: string, report: Report, shown = key): void {
  if (!isLabelKey(key)) report(path, `${quoted(shown)} is not a label key: expected [prefix/]name`);
}

/** Of ASCII only: other letters have no place in a prefix, whatever their lower case is. */
function withLowerPrefix(key: string): string {
  const end = key.indexOf('/') + 1;
  return key.slice(0, end).replace(/[A-Z]/g, letter => letter.toLowerCase()) + key.slice(end);
}

/** Annotation keys may be in upper case; their values may be anything. */
export function checkAnnotationKey(key: string, path: string, report: Report): void {
  if (!isAnnotationKey(key)) report(path, `${quoted(key)} is not an annotation key: expected [prefix/]name`);
}

/** A sound key in lower case is one in any: most need no text of their own to be looked at. */
export function isAnnotationKey(key: string): boolean {
  return isLabelKey(key) || isLabelKey(key.toLowerCase());
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
