// How many endpoints one object comes to. Lists that multiply stand in a few kilobytes: 4,096 endpoints, 256 ports and
// 256 hosts of a ServiceEntry are 268 million.

import type { Report } from '../report.ts';

/** Twenty pods for each of 5,000 nodes, the largest cluster that Kubernetes supports. */
export const ENDPOINTS_OF_OBJECT_MAX = 100_000;

/** `what`: the lists that multiply, as the author sees them. */
export function checkEndpointCount(count: number, what: string, path: string, report: Report): void {
  if (count <= ENDPOINTS_OF_OBJECT_MAX) return;
  report(path, `${what} come to ${count} endpoints; at most ${ENDPOINTS_OF_OBJECT_MAX} are allowed`);
}
