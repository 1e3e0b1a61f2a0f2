// Locality load balancing: shares and failover between `region/zone/subzone`. Source: Istio pkg/config/validation/agent
// (ValidateLocalityLbSetting).

import { keysOf } from '../../../base/keys.ts';
import type { LocalityLoadBalancerSetting } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';

const TOPOLOGY_LABELS: readonly string[] = [
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.istio.io/subzone',
];

/** Each is 1 at least. */
const WEIGHTS_SUM = 100;

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
    const at = `${path}.distribute[${i}].to`;
    const targets = keysOf(to);
    checkShares(to, targets, at, report);
    checkLocality(from, `${path}.distribute[${i}].from`, report);
    // The weights of more targets are wrong, which is reported by now.
    if (targets.length > WEIGHTS_SUM) return;
    for (const target of targets) checkLocality(target, at, report);
    if (targets.length > 1) checkOverlaps(specificFirst(targets), at, report);
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

function checkShares(
  to: Readonly<Record<string, number>>,
  targets: readonly string[],
  path: string,
  report: Report,
): void {
  let sum = 0;
  for (const locality of targets) sum += to[locality]!;
  if (sum !== WEIGHTS_SUM) report(path, `the weights sum up to ${sum}; expected ${WEIGHTS_SUM}`);
  for (const locality of targets) {
    const weight = to[locality]!;
    if (weight < 1 || weight > WEIGHTS_SUM)
      report(`${path}[${locality}]`, `${weight} is not a weight: expected 1 to ${WEIGHTS_SUM}`);
  }
}

function checkLocality(locality: string, path: string, report: Report): void {
  const star = locality.indexOf('*');
  if (star >= 0 && star !== locality.length - 1) report(path, `${quoted(locality)}: "*" is possible at the end only`);
  if (!LOCALITY.test(locality)) {
    report(path, `${quoted(locality)} is not a locality: expected region, region/zone or region/zone/subzone`);
  }
}

const LOCALITY = /^[^/]+(?:\/[^/]+(?:\/.+)?)?$/s;

/** Region, zone and the rest, which may have more slashes. */
function partsOf(locality: string): readonly string[] {
  const first = locality.indexOf('/');
  if (first < 0) return [locality];
  const second = locality.indexOf('/', first + 1);
  const region = locality.slice(0, first);
  if (second < 0) return [region, locality.slice(first + 1)];
  return [region, locality.slice(first + 1, second), locality.slice(second + 1)];
}

/** Region, zone in it, subzones in that. `*` as a zone or a subzone stands for all of them. */
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
  let zones = taken.get(region);
  if (taken.has('*') || (zones !== undefined && (zone === undefined || zones.has('*')))) return false;
  if (zones === undefined) {
    zones = new Map();
    taken.set(region, zones);
  }
  const subzones = zones.get(zone ?? '*');
  if (subzones === undefined) zones.set(zone ?? '*', new Set([subzone ?? '*']));
  else if (subzone === undefined || subzones.has('*') || subzones.has(subzone)) return false;
  else subzones.add(subzone);
  return true;
}

/**
 * The keys of a map have no order: the one in which they overlap least. Istio takes them in a random order, so that it
 * accepts now and then what another order would refuse.
 */
function specificFirst(localities: readonly string[]): readonly string[] {
  if (!localities.some(locality => locality.endsWith('*'))) return localities;
  const byWidth: string[][] = [[], [], [], []];
  for (const locality of localities) {
    const parts = partsOf(locality);
    byWidth[parts.at(-1) === '*' ? 4 - parts.length : 0]!.push(locality);
  }
  return byWidth.flat();
}
