// Locality load balancing: shares and failover between `region/zone/subzone`. Source: Istio pkg/config/validation/agent
// (ValidateLocalityLbSetting).

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
    checkShares(to, at, report);
    checkLocality(from, `${path}.distribute[${i}].from`, report);
    const targets = Object.keys(to);
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

function checkShares(to: Readonly<Record<string, number>>, path: string, report: Report): void {
  let sum = 0;
  for (const locality in to) sum += to[locality]!;
  if (sum !== WEIGHTS_SUM) report(path, `the weights sum up to ${sum}; expected ${WEIGHTS_SUM}`);
  for (const locality in to) {
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
  const [region = '', zone, ...rest] = locality.split('/');
  if (zone === undefined) return [region];
  return rest.length === 0 ? [region, zone] : [region, zone, rest.join('/')];
}

/**
 * Regions, zones as `region/zone`, subzones as `region/zone/subzone`. `*` as a zone or a subzone stands for all of
 * them.
 */
type Taken = Set<string>;

/** A locality may follow a narrower one, not a wider one, which would have counted already. */
function checkOverlaps(localities: readonly string[], path: string, report: Report): void {
  const taken: Taken = new Set();
  for (const locality of localities) {
    if (!take(partsOf(locality), taken)) report(path, `${quoted(locality)} overlaps an earlier locality`);
  }
}

/** False if it overlaps one that was taken. A `*` beside other letters (`us-*`) is a letter like them, as in Istio. */
function take([region = '', zone, subzone]: readonly string[], taken: Taken): boolean {
  if (taken.has('*') || (taken.has(region) && (zone === undefined || taken.has(`${region}/*`)))) return false;
  const within = `${region}/${zone ?? '*'}`;
  if (taken.has(within)) {
    if (subzone === undefined || taken.has(`${within}/*`) || taken.has(`${within}/${subzone}`)) return false;
  } else taken.add(region).add(within);
  taken.add(`${within}/${subzone ?? '*'}`);
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
