// TrafficPolicy of a DestinationRule, its subsets and ports. Source: Istio pkg/config/validation
// (validateTrafficPolicy).

import { isIp } from '../../../base/ip.ts';
import type { OutlierDetection, TrafficPolicy, TrafficPolicy_TunnelSettings } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { checkPort } from '../../validate/ports.ts';
import { checkClientTls } from './client-tls.ts';
import { checkConnectionPool } from './connection-pool.ts';
import { checkDuration } from './durations.ts';
import { fqdnProblem } from './hosts.ts';
import { checkLoadBalancer } from './load-balancer.ts';

/** `namespace` is that of the rule. */
export function checkTrafficPolicy(
  policy: TrafficPolicy | undefined,
  namespace: string,
  path: string,
  report: Report,
): void {
  if (policy === undefined) return;
  const { portLevelSettings = [], ...others } = policy;
  if (Object.keys(others).length + portLevelSettings.length === 0) {
    report(path, 'is empty; expected at least one setting');
  }
  if (policy.tunnel !== undefined && policy.proxyProtocol !== undefined) {
    report(`${path}.proxyProtocol`, 'cannot be combined with tunnel');
  }
  checkSettings(policy, namespace, path, report);
  checkTunnel(policy.tunnel, `${path}.tunnel`, report);
  const percent = policy.retryBudget?.percent;
  if (percent !== undefined && !(percent >= 0 && percent <= 100)) {
    report(`${path}.retryBudget.percent`, `${percent} is not a percentage: expected 0 to 100`);
  }
  portLevelSettings.forEach((settings, i) => {
    const at = `${path}.portLevelSettings[${i}]`;
    const { port, ...rest } = settings;
    if (port === undefined) report(`${at}.port`, 'is missing; expected a port with a number');
    if (Object.keys(rest).length === 0) report(at, 'is empty; expected at least one setting beside the port');
    checkSettings(rest, namespace, at, report);
  });
}

function checkSettings(
  policy: Pick<TrafficPolicy, 'outlierDetection' | 'connectionPool' | 'loadBalancer' | 'tls'>,
  namespace: string,
  path: string,
  report: Report,
): void {
  checkOutlierDetection(policy.outlierDetection, `${path}.outlierDetection`, report);
  checkConnectionPool(policy.connectionPool, `${path}.connectionPool`, report);
  checkLoadBalancer(policy.loadBalancer, `${path}.loadBalancer`, report);
  checkClientTls(policy.tls, namespace, `${path}.tls`, report);
}

function checkOutlierDetection(outlier: OutlierDetection | undefined, path: string, report: Report): void {
  if (outlier === undefined) return;
  checkDuration(outlier.baseEjectionTime, `${path}.baseEjectionTime`, report);
  checkDuration(outlier.interval, `${path}.interval`, report);
  for (const field of ['maxEjectionPercent', 'minHealthPercent'] as const) {
    const percent = outlier[field] ?? 0;
    if (percent < 0 || percent > 100) report(`${path}.${field}`, `${percent} is not a percentage: expected 0 to 100`);
  }
  if ((outlier.consecutiveLocalOriginFailures ?? 0) > 0 && !outlier.splitExternalLocalOriginErrors) {
    report(`${path}.consecutiveLocalOriginFailures`, 'counts only when splitExternalLocalOriginErrors is true');
  }
}

function checkTunnel(tunnel: TrafficPolicy_TunnelSettings | undefined, path: string, report: Report): void {
  if (tunnel === undefined) return;
  const { protocol = '', targetHost = '', targetPort } = tunnel;
  if (protocol !== '' && protocol !== 'CONNECT' && protocol !== 'POST') {
    report(`${path}.protocol`, `${quoted(protocol)} is not a protocol of tunnels: expected CONNECT or POST`);
  }
  const problem = isIp(targetHost) ? undefined : fqdnProblem(targetHost);
  if (problem !== undefined) report(`${path}.targetHost`, problem);
  checkPort(targetPort, `${path}.targetPort`, report);
}
