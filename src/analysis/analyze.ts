// Runs analyzers over a snapshot: which of them, what they say, and what of that is suppressed.
//
// Suppressions are Istio's: the annotation of an object (a list of codes, or `*`), and `CODE=Kind name.namespace` with
// wildcards, as `istioctl analyze --suppress` takes them.
// Source: Istio pkg/config/analysis/local/istiod_analyze.go (filterMessages), diag/messages.go.

import type { Analyzer } from './analyzer.ts';
import { friendlyName, inOrder, type Message } from './message.ts';
import type { AnalysisKind, AnalyzedObjects } from './objects.ts';

export interface Suppression {
  readonly code: string;
  /** e.g. `Pod default/web`; `*` stands for any text. */
  readonly resource: string;
}

export interface Analysis {
  readonly messages: readonly Message[];
  readonly suppressed: number;
  /** Analyzers that were not run, and the kinds that the input lacks. */
  readonly skipped: readonly { readonly analyzer: Analyzer; readonly missing: readonly AnalysisKind[] }[];
}

export interface AnalysisOptions {
  readonly suppressions?: readonly Suppression[];
  /** Run every analyzer of `from`, whatever the input lacks. */
  readonly runAll?: boolean;
  /** Messages that were found otherwise, to be sorted and suppressed with the others. */
  readonly further?: readonly Message[];
}

const SUPPRESS = 'galley.istio.io/analyze-suppress';

export function analyze(objects: AnalyzedObjects, from: readonly Analyzer[], options: AnalysisOptions = {}): Analysis {
  const { suppressions = [], runAll = false, further = [] } = options;
  const found: Message[] = [...further];
  const skipped: Analysis['skipped'][number][] = [];
  for (const analyzer of from) {
    const missing = analyzer.needs.filter(kind => objects.all(kind).every(({ made }) => made === 'of-installation'));
    if (missing.length > 0 && !runAll) {
      skipped.push({ analyzer, missing });
      continue;
    }
    analyzer.analyze(objects, (item, wording, path) => {
      found.push(path === undefined ? { ...wording, item } : { ...wording, item, path });
    });
  }
  const kept = found.filter(message => !isSuppressed(message, suppressions));
  return { messages: inOrder(kept), suppressed: found.length - kept.length, skipped };
}

function isSuppressed({ item, code }: Message, suppressions: readonly Suppression[]): boolean {
  if (item === undefined) return false;
  const codes = (item.annotations[SUPPRESS] ?? '').split(',');
  if (codes.includes('*') || codes.includes(code)) return true;
  return suppressions.some(one => one.code === code && matchesGlob(one.resource, item));
}

/** istioctl documents `Kind name.namespace` and compares with `Kind namespace/name`; both are understood. */
function matchesGlob(pattern: string, item: NonNullable<Message['item']>): boolean {
  const { namespace, name } = item;
  const documented = `${friendlyName(item).split(' ')[0]} ${namespace === '' ? name : `${name}.${namespace}`}`;
  return [friendlyName(item), documented].some(text => isGlobMatch(pattern, text));
}

function isGlobMatch(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  if (parts.length === 1) return pattern === text;
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > text.length - last.length) return false;
    from = at + part.length;
  }
  return true;
}
