// Redirects of a VirtualService rule.
// Source: Istio pilot/pkg/networking/core/route/route.go (ApplyRedirect).

import type { HTTPRedirect } from '../../../core/schema/istio-types.gen.ts';
import { RedirectAction_RedirectResponseCode as Code, type RedirectAction } from '../../proto/types.gen.ts';

export interface RedirectPlace {
  /** The port being built, for `derivePort: FROM_REQUEST_PORT`. */
  readonly port: number;
  /** Requests come over TLS. */
  readonly https: boolean;
  /** `%PREFIX()%` at the head of the path stands for the matched prefix (Gateway API). */
  readonly prefixToken: boolean;
}

const PREFIX_TOKEN = '%PREFIX()%';

const codes: Readonly<Record<number, number>> = {
  0: Code.MOVED_PERMANENTLY,
  301: Code.MOVED_PERMANENTLY,
  302: Code.FOUND,
  303: Code.SEE_OTHER,
  307: Code.TEMPORARY_REDIRECT,
  308: Code.PERMANENT_REDIRECT,
};

/** undefined: Envoy knows no redirect with this code. */
export function redirectAction(redirect: HTTPRedirect, place: RedirectPlace): RedirectAction | undefined {
  const code = codes[redirect.redirectCode ?? 0];
  if (code === undefined) return undefined;
  const port = redirectPort(redirect, place);
  return {
    hostRedirect: redirect.authority || undefined,
    ...redirectPath(redirect.uri ?? '', place.prefixToken),
    schemeRedirect: redirect.scheme || undefined,
    portRedirect: port || undefined,
    responseCode: code === Code.MOVED_PERMANENTLY ? undefined : (code as RedirectAction['responseCode']),
  };
}

/** A redirect without a path sets the empty path. */
function redirectPath(uri: string, prefixToken: boolean): RedirectAction {
  if (prefixToken && uri.startsWith(PREFIX_TOKEN)) return { prefixRewrite: uri.slice(PREFIX_TOKEN.length) };
  return { pathRedirect: uri };
}

/** 0: no port in the location. The default port of the scheme is not written out. */
function redirectPort(redirect: HTTPRedirect, place: RedirectPlace): number {
  const port = redirect.port ?? (redirect.derivePort === 'FROM_REQUEST_PORT' ? place.port : 0);
  const given = redirect.scheme ?? '';
  const scheme = given === '' ? (place.https ? 'https' : 'http') : given;
  return (port === 80 && scheme === 'http') || (port === 443 && scheme === 'https') ? 0 : port;
}
