// Load balancing of a DestinationRule. Source: Istio pkg/config/validation (validateLoadBalancer); Envoy's limit of
// Maglev tables.

import type {
  LoadBalancerSettings,
  LoadBalancerSettings_ConsistentHashLB,
  WarmupConfiguration,
} from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { checkDuration } from './durations.ts';
import { checkLocalitySetting } from './locality.ts';

/** Envoy takes a prime up to this. */
const MAGLEV_TABLE_MAX = 5_000_011;

export function checkLoadBalancer(settings: LoadBalancerSettings | undefined, path: string, report: Report): void {
  if (settings === undefined) return;
  checkConsistentHash(settings.consistentHash, `${path}.consistentHash`, report);
  checkLocalitySetting(settings.localityLbSetting, `${path}.localityLbSetting`, report);
  checkDuration(settings.warmupDurationSecs, `${path}.warmupDurationSecs`, report);
  checkWarmup(settings.warmup, `${path}.warmup`, report);
}

function checkConsistentHash(
  hash: LoadBalancerSettings_ConsistentHashLB | undefined,
  path: string,
  report: Report,
): void {
  const cookie = hash?.httpCookie;
  if (cookie !== undefined && !cookie.name) report(`${path}.httpCookie.name`, 'is missing');
  const names = new Set<string>();
  (cookie?.attributes ?? []).forEach(({ name = '' }, i) => {
    const at = `${path}.httpCookie.attributes[${i}].name`;
    if (name === '') report(at, 'is missing');
    else if (names.has(name)) report(at, `${quoted(name)} is the name of an earlier attribute too`);
    names.add(name);
  });
  if (hash?.minimumRingSize && (hash.maglev !== undefined || hash.ringHash !== undefined)) {
    report(`${path}.minimumRingSize`, 'cannot be combined with maglev or ringHash');
  }
  const size = hash?.maglev === undefined ? undefined : (hash.maglev.tableSize ?? 0);
  if (size === undefined) return;
  if (size >= MAGLEV_TABLE_MAX)
    report(`${path}.maglev.tableSize`, `${size} is too large: expected less than ${MAGLEV_TABLE_MAX}`);
  else if (!isPrime(size)) report(`${path}.maglev.tableSize`, `${size} is not a prime number`);
}

/** As Envoy sees it: 1 passes. */
function isPrime(number: number): boolean {
  if (number < 1) return false;
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) if (number % divisor === 0) return false;
  return true;
}

function checkWarmup(warmup: WarmupConfiguration | undefined, path: string, report: Report): void {
  if (warmup === undefined) return;
  if (warmup.duration === undefined) report(`${path}.duration`, 'is missing');
  checkDuration(warmup.duration, `${path}.duration`, report);
  const { minimumPercent = 0, aggression } = warmup;
  if (minimumPercent < 0 || minimumPercent > 100) {
    report(`${path}.minimumPercent`, `${minimumPercent} is not a percentage: expected 0 to 100`);
  }
  if (aggression !== undefined && !(aggression >= 1)) report(`${path}.aggression`, `${aggression} is less than 1`);
}
