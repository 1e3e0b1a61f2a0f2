// Locality load balancing: shares and failover between `region/zone/subzone`. Source: Istio pkg/config/validation/agent
// (ValidateLocalityLbSetting).

import type { LocalityLoadBalancerSetting } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';

const TOPOLOGY_LABELS: readonly string[] = [
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.istio.io/subzone',
];

export function checkLocalitySetting(
  setting: LocalityLoadBalancerSetting | undefined,
  path: string,
  report: Report,
): void {
  const distribute = setting?.distribute ?? [];
  const failover = setting?.failover ?? [];
  if (distribute.length > 0 && failover.length > 0) report(path, 'distribute cannot be combined with failover');
  const topology = setting?.failoverPriority?.find(label => TOPOLOGY_LABELS.includes(label));
  if (failover.length > 0 && topology !== undefined) {
    report(`${path}.failoverPriority`, `${quoted(topology)} cannot be combined with failover`);
  }
  distribute.forEach(({ from = '', to = {} }, i) => {
    checkShares(to, `${path}.distribute[${i}].to`, report);
    checkLocalities([from], `${path}.distribute[${i}].from`, report);
    checkLocalities(Object.keys(to), `${path}.distribute[${i}].to`, report);
  });
  checkOverlaps(
    distribute.map(({ from = '' }) => from),
    `${path}.distribute`,
    report,
  );
  failover.forEach(({ from = '', to = '' }, i) => {
    const at = `${path}.failover[${i}]`;
    if (from === to) report(at, `from and to are both ${quoted(from)}; expected different regions`);
    for (const region of [from, to]) {
      if (/[/*]/.test(region)) report(at, `${quoted(region)} is not a region: expected no "/" and no "*"`);
    }
  });
}

function checkShares(to: Readonly<Record<string, number>>, path: string, report: Report): void {
  const sum = Object.values(to).reduce((total, weight) => total + weight, 0);
  if (sum !== 100) report(path, `the weights sum up to ${sum}; expected 100`);
  for (const [locality, weight] of Object.entries(to)) {
    if (weight < 1 || weight > 100) report(`${path}[${locality}]`, `${weight} is not a weight: expected 1 to 100`);
  }
}

function checkLocalities(localities: readonly string[], path: string, report: Report): void {
  for (const locality of localities) {
    const star = locality.indexOf('*');
    if (star >= 0 && star !== locality.length - 1) report(path, `${quoted(locality)}: "*" is possible at the end only`);
    const parts = locality.split('/');
    if (parts.includes('') || parts.length > 3) {
      report(path, `${quoted(locality)} is not a locality: expected region, region/zone or region/zone/subzone`);
    }
  }
  if (localities.length > 1) checkOverlaps(localities, path, report);
}

/** Of two localities that cover each other it would be unclear which one counts. */
function checkOverlaps(localities: readonly string[], path: string, report: Report): void {
  localities.forEach((locality, i) => {
    const other = localities.find((found, j) => j !== i && covers(found, locality) && (found !== locality || j < i));
    if (other !== undefined) report(path, `${quoted(locality)} overlaps ${quoted(other)}`);
  });
}

function covers(pattern: string, locality: string): boolean {
  if (pattern === locality) return true;
  const prefix = pattern.endsWith('*') ? pattern.slice(0, -1) : `${pattern}/`;
  return locality.startsWith(prefix);
}
