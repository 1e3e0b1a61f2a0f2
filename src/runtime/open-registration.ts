// The registration of machines of a process: written to its API server if it may write there, else in force at once.

import type { Registry } from 'prom-client';
import { Registrar } from '../adapters/registration/registrar.ts';
import { RegistrationCounts } from '../admin/registration-counts.ts';
import { featureOf } from '../core/mesh/features.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { ServeOptions } from './serve-options.ts';

/** In the annotations of WorkloadEntries that no API server has. */
const UNNAMED = 'periplus';

export function openRegistration(
  { kube, writes, settings, maxConnectionAgeMs }: ServeOptions,
  clock: Clock,
  log: Log,
  registry: Registry,
): Registrar {
  const counts = new RegistrationCounts(registry);
  return new Registrar({
    cluster: settings.clusterId,
    controller: writes?.identity ?? UNNAMED,
    isWritten: kube !== undefined && writes !== undefined,
    graceMs: featureOf(settings, 'PILOT_WORKLOAD_ENTRY_GRACE_PERIOD'),
    connectionAgeMsMax: maxConnectionAgeMs,
    clock,
    log,
    observe: what => counts.count(what),
  });
}
