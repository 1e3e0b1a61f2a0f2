// Labels of a service that keep a client's requests on the endpoint of the first one.
// Source: Istio pilot/pkg/networking/util/util.go (MaybeBuildStatefulSessionFilterConfig).

import type { Service } from '../../model/service.ts';
import type { Reader } from '../../query/reader.ts';

/**
 * The carrier of the endpoint's name: a cookie `name[:path]` (`cookie:…`), or a header (`header:…`); '' for none, or
 * while the filter is off.
 */
export function sessionOf(reader: Reader, service: Service | undefined): string {
  if (service === undefined || !reader.feature('PILOT_ENABLE_PERSISTENT_SESSION_FILTER')) return '';
  const cookie = service.labels[reader.feature('PILOT_PERSISTENT_SESSION_LABEL')] ?? '';
  if (cookie !== '') return `cookie:${cookie}`;
  const header = service.labels[reader.feature('PILOT_PERSISTENT_SESSION_HEADER_LABEL')] ?? '';
  return header === '' ? '' : `header:${header}`;
}

/** Of the services of a route's destinations: the last one, but not past a second that has one. As Istio takes them. */
export function sessionAmong(sessions: readonly string[]): string {
  let chosen = '';
  for (const session of sessions) {
    if (session !== '' && chosen !== '') break;
    chosen = session;
  }
  return chosen;
}
