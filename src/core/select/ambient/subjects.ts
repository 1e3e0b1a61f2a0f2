// What the policies of a proxy may be about: the proxy, and of a waypoint each service behind it.
// Source: Istio pilot/pkg/model/policyattachment.go (WithServices).

import type { Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { isWaypoint } from '../proxy/proxy-type.ts';
import type { PolicySubject } from '../telemetry/traffic-class.ts';
import { servicesBehind } from './behind-waypoint.ts';

export function subjectOfService({ registry, namespace, objectName }: Service): PolicySubject {
  return `${registry === 'External' ? 'ServiceEntry' : 'Service'} ${namespace}/${objectName}`;
}

export function subjectsOf(reader: ProxyReader): readonly PolicySubject[] {
  if (!isWaypoint(reader)) return PROXY_ALONE;
  return [...new Set(['', ...reader.get(servicesBehind, '').map(subjectOfService)])];
}

const PROXY_ALONE: readonly PolicySubject[] = [''];
