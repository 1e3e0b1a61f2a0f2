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
    const targets = Object.keys(to);
    checkLocalities(targets, `${path}.distribute[${i}].to`, report);
    checkOverlaps(specificFirst(targets), `${path}.distribute[${i}].to`, report);
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
    if (partsOf(locality).includes('')) {
      report(path, `${quoted(locality)} is not a locality: expected region, region/zone or region/zone/subzone`);
    }
  }
}

/** Region, zone and the rest, which may have more slashes. */
function partsOf(locality: string): readonly string[] {
  const [region = '', zone, ...rest] = locality.split('/');
  if (zone === undefined) return [region];
  return rest.length === 0 ? [region, zone] : [region, zone, rest.join('/')];
}

/** Region → zone → subzones. `*` as a zone or a subzone stands for all of them. */
type Taken = Map<string, Map<string, Set<string>>>;

/** A locality may follow a narrower one, not a wider one, which would have counted already. */
function checkOverlaps(localities: readonly string[], path: string, report: Report): void {
  const taken: Taken = new Map();
  for (const locality of localities) {
    if (!take(partsOf(locality), taken)) report(path, `${quoted(locality)} overlaps an earlier locality`);
  }
}

/** False if it overlaps one that was taken. A `*` beside other letters (`us-*`) is a letter like them, as in Istio. */
function take([region = '', zone, subzone]: readonly string[], taken: Taken): boolean {
  const zones = taken.get(region);
  if (taken.has('*') || (zones !== undefined && (zone === undefined || zones.has('*')))) return false;
  const subzones = zones?.get(zone ?? '*');
  if (subzones !== undefined) {
    if (subzone === undefined || subzones.has('*') || subzones.has(subzone)) return false;
    subzones.add(subzone);
    return true;
  }
  const added = new Set([subzone ?? '*']);
  if (zones === undefined) taken.set(region, new Map([[zone ?? '*', added]]));
  else zones.set(zone ?? '*', added);
  return true;
}

/**
 * The keys of a map have no order: the one in which they overlap least. Istio takes them in a random order, so that it
 * accepts now and then what another order would refuse.
 */
function specificFirst(localities: readonly string[]): readonly string[] {
  const width = (locality: string): number => {
    const parts = partsOf(locality);
    return parts.at(-1) === '*' ? 4 - parts.length : 0;
  };
  return [...localities].sort((a, b) => width(a) - width(b));
}
