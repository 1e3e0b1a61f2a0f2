// Connection pools of destinations and of Sidecars. Source: Istio pkg/config/validation (validateConnectionPool).

import type { ConnectionPoolSettings } from '../../../schema/istio-types.gen.ts';
import type { Report } from '../../report.ts';
import { checkDuration, milliseconds } from './durations.ts';

export function checkConnectionPool(pool: ConnectionPoolSettings | undefined, path: string, report: Report): void {
  if (pool === undefined) return;
  const { http, tcp } = pool;
  if (http === undefined && tcp === undefined) report(path, 'is empty; expected http or tcp');
  if (http !== undefined) {
    const counts = [
      'http1MaxPendingRequests',
      'http2MaxRequests',
      'maxRequestsPerConnection',
      'maxRetries',
      'maxConcurrentStreams',
    ] as const;
    for (const field of counts) checkCount(http[field], `${path}.http.${field}`, report);
    checkDuration(http.idleTimeout, `${path}.http.idleTimeout`, report);
    if (http.h2UpgradePolicy === 'UPGRADE' && http.useClientProtocol) {
      report(`${path}.http.useClientProtocol`, 'cannot be true when h2UpgradePolicy is UPGRADE');
    }
  }
  if (tcp !== undefined) {
    checkCount(tcp.maxConnections, `${path}.tcp.maxConnections`, report);
    for (const field of ['connectTimeout', 'maxConnectionDuration'] as const) {
      checkDuration(tcp[field], `${path}.tcp.${field}`, report);
    }
    // Zero means no timeout.
    const { idleTimeout } = tcp;
    if (idleTimeout !== undefined && Math.trunc(milliseconds(idleTimeout)) !== 0) {
      checkDuration(idleTimeout, `${path}.tcp.idleTimeout`, report);
    }
    for (const field of ['time', 'interval'] as const) {
      checkDuration(tcp.tcpKeepalive?.[field], `${path}.tcp.tcpKeepalive.${field}`, report);
    }
  }
}

function checkCount(count: number | undefined, path: string, report: Report): void {
  if (count !== undefined && count < 0) report(path, `${count} is negative`);
}
