// Selectors of workloads by labels. Source: Istio pkg/config/validation (validateWorkloadSelector,
// validateAlphaWorkloadSelector).

import { quoted, type Report } from '../../report.ts';

export function checkSelector(
  labels: Readonly<Record<string, string>> | undefined,
  path: string,
  report: Report,
): void {
  // No list of entries: there may be 60,000 of them.
  for (const key in labels) {
    const value = labels[key]!;
    if (key === '') report(path, `has an empty key, with the value ${quoted(value)}`);
    if (key.includes('*') || value.includes('*')) {
      report(`${path}[${key}]`, `${quoted(value)}: wildcards are not supported in a selector`);
    }
  }
}
