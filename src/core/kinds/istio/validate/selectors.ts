// Selectors of workloads by labels. Source: Istio pkg/config/validation (validateWorkloadSelector,
// validateAlphaWorkloadSelector).

import { quoted, type Report } from '../../report.ts';

export function checkSelector(
  labels: Readonly<Record<string, string>> | undefined,
  path: string,
  report: Report,
): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (key === '') report(path, `has an empty key, with the value ${quoted(value)}`);
    if (key.includes('*') || value.includes('*')) {
      report(`${path}[${key}]`, `${quoted(value)}: wildcards are not supported in a selector`);
    }
  }
}
