// What an authenticated caller from another machine may see of the debug pages: all of them from the mesh's root
// namespace or one that an operator lists, else what is about proxies of the caller's own namespace.
// Source: Istio pilot/pkg/xds/debug.go (allowAuthenticatedOrLocalhost, authorizeDebugRequest).

import type { IncomingMessage } from 'node:http';
import type { Admission } from '../admin/http.ts';
import type { Peer } from '../core/model/caller.ts';
import { parseSpiffe } from '../core/model/identity.ts';
import { FORWARDED_HEADER, isTrusted } from './authenticate/forwarded.ts';

export interface DebugViewerOptions {
  /** ENABLE_DEBUG_ENDPOINT_AUTH: off, every proven caller sees everything. */
  readonly isRestricted: boolean;
  /** Callers from these namespaces see everything. */
  readonly namespaces: readonly string[];
}

/** None proven: refused with 401. */
export function debugViewer(
  identities: readonly string[],
  { isRestricted, namespaces }: DebugViewerOptions,
): Admission {
  if (identities.length === 0) return { refused: 401 };
  if (!isRestricted) return 'all';
  const identity = identities.map(parseSpiffe).find(parsed => parsed !== undefined);
  if (identity === undefined) return { refused: 403 };
  return namespaces.includes(identity.namespace) ? 'all' : { namespace: identity.namespace };
}

/** The HTTP ports are in the clear, so that a token is the only proof. */
export function httpPeer({ socket, headers }: IncomingMessage): Peer {
  return {
    address: socket.remoteAddress ?? '',
    secure: false,
    header: name => {
      // On this machine the header proves nothing: a page in a browser can send it, too.
      if (name.toLowerCase() === FORWARDED_HEADER && isTrusted(socket.remoteAddress ?? '', [])) return [];
      const value = headers[name.toLowerCase()];
      const values = value === undefined ? [] : typeof value === 'string' ? [value] : value;
      // istioctl has a scheme of its own, lest a proxy in between takes the token for itself.
      return name === 'authorization' ? values.map(text => text.replace(/^Istio /, 'Bearer ')) : values;
    },
  };
}
