// exportTo: to which namespaces a resource is visible. Source: Istio pkg/config/validation (validateExportTo),
// pkg/config/visibility.

import { quoted, type Report } from '../../report.ts';
import { isLabel } from './hosts.ts';

export interface ExportToRules {
  readonly namespace: string;
  /** `~`, no namespace, makes sense for a ServiceEntry only. */
  readonly noneAllowed?: boolean;
  /** A rule for selected workloads is for its own namespace alone. */
  readonly ownNamespaceOnly?: boolean;
}

export function checkExportTo(exportTo: readonly string[] | undefined, rules: ExportToRules, report: Report): void {
  const seen = new Set<string>();
  const entries = exportTo ?? [];
  entries.forEach((entry, i) => {
    const key = entry === '.' ? rules.namespace : entry;
    const known = entry === '.' || entry === '*' || (entry === '~' && rules.noneAllowed) || isLabel(entry);
    const isBeyond = rules.ownNamespaceOnly && key !== rules.namespace;
    const isRepeated = seen.size === seen.add(key).size;
    if (known && !isBeyond && !isRepeated) return;
    const path = `spec.exportTo[${i}]`;
    if (isRepeated) report(path, `${quoted(entry)} names a namespace that an earlier entry names too`);
    if (!known) report(path, `${quoted(entry)} is not a visibility: expected ".", "*" or the name of a namespace`);
    if (isBeyond) {
      report(path, `${quoted(entry)} goes beyond the own namespace; a rule with a workloadSelector cannot`);
    }
  });
  for (const alone of ['*', '~']) {
    if (seen.has(alone) && entries.length > 1)
      report('spec.exportTo', `"${alone}" cannot be combined with other entries`);
  }
}
