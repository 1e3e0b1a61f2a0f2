// The access logs of a class of traffic: one query, so that every chain of the class shares the lists.

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { accessLogs, listenersLog } from '../../../core/select/telemetry/access-logs.ts';
import type { TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
import { orNone } from '../../generate/common/or-none.ts';
import { type AccessLogs, accessLogGenerator } from '../../generate/listener/access-log.ts';
import type { AccessLog } from '../../proto/types.gen.ts';

/** Argument: the class of traffic. */
export const accessLogsOf: Query<TrafficClass, AccessLogs> = {
  name: 'listener/accessLogsOf',
  run: (reader, traffic) => reader.make(accessLogGenerator, { specs: reader.get(accessLogs, traffic) }),
};

/** The logs of a listener of the class; undefined if it has none. */
export function listenerAccessLogs(reader: ProxyReader, traffic: TrafficClass): readonly AccessLog[] | undefined {
  return listenersLog(reader) ? orNone(reader.get(accessLogsOf, traffic).listener) : undefined;
}
