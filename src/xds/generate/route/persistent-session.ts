// Sessions that stay with an endpoint, per virtual host or route; without this the filter does nothing.
// Source: Istio pilot/pkg/networking/util/util.go.

import { any } from '../../proto/any.ts';
import type { AnyMessage, HttpFilter, TypedExtensionConfig } from '../../proto/types.gen.ts';

const SESSION_FILTER = 'envoy.filters.http.stateful_session';

/**
 * `session`: as core/select/route/persistent-session.ts gives it. The entry for `typedPerFilterConfig`; empty for none.
 */
export function sessionConfig(session: string): Readonly<Record<string, AnyMessage>> {
  if (session === '') return {};
  const override = { statefulSession: { sessionState: sessionState(session) } };
  return {
    [SESSION_FILTER]: any('envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute', override),
  };
}

/** For a client that has the filter's settings in the filter itself. */
export function sessionFilter(session: string): readonly HttpFilter[] {
  if (session === '') return [];
  const typedConfig = any('envoy.extensions.filters.http.stateful_session.v3.StatefulSession', {
    sessionState: sessionState(session),
  });
  return [{ name: SESSION_FILTER, typedConfig }];
}

function sessionState(session: string): TypedExtensionConfig {
  const [kind, name = '', path = '/'] = splitSession(session);
  if (kind === 'header') {
    return {
      name: 'envoy.http.stateful_session.header',
      typedConfig: any('envoy.extensions.http.stateful_session.header.v3.HeaderBasedSessionState', { name }),
    };
  }
  return {
    name: 'envoy.http.stateful_session.cookie',
    typedConfig: any('envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState', {
      cookie: { name, path: path || undefined },
    }),
  };
}

/** A header may contain colons, as far as this goes; a cookie ends at its first. */
function splitSession(session: string): readonly [kind: string, name: string, path?: string] {
  const colon = session.indexOf(':');
  const kind = session.slice(0, colon);
  const rest = session.slice(colon + 1);
  const end = kind === 'cookie' ? rest.indexOf(':') : -1;
  return end < 0 ? [kind, rest] : [kind, rest.slice(0, end), rest.slice(end + 1)];
}
