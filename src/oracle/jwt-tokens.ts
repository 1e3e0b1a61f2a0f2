// Where tokens stand in a request: headers behind a prefix, query parameters, cookies. A provider that names no place
// looks for `Authorization: Bearer` and the parameter access_token (Envoy's
// source/extensions/filters/http/jwt_authn/extractor.cc).

import type { JwtProvider } from '../xds/proto/types.gen.ts';
import type { Headers } from './header-matcher.ts';
import { queryParameter, splitPath } from './path.ts';

/** A text that stands where a token is expected. */
export interface FoundToken {
  readonly text: string;
  /** The header to remove it from, in lower case; undefined: it stands elsewhere. */
  readonly header: string | undefined;
  /** The issuers whose tokens may stand there; undefined: any. */
  readonly issuers: readonly string[] | undefined;
}

/** In the order in which Envoy finds them: headers, parameters, cookies. */
export function tokensIn(headers: Headers, providers: readonly JwtProvider[]): readonly FoundToken[] {
  const places = new Map<string, Place>();
  for (const provider of providers) {
    for (const place of placesOf(provider)) {
      const key = `${place.kind} ${place.name} ${place.prefix}`;
      const known = places.get(key);
      places.set(key, known === undefined ? place : { ...place, issuers: joined(known.issuers, place.issuers) });
    }
  }
  const order = ['header', 'parameter', 'cookie'] as const;
  return order.flatMap(kind =>
    [...places.values()].filter(place => place.kind === kind).flatMap(place => tokenAt(place, headers)),
  );
}

interface Place {
  readonly kind: 'header' | 'parameter' | 'cookie';
  readonly name: string;
  readonly prefix: string;
  readonly issuers: readonly string[] | undefined;
}

function placesOf({ issuer, fromHeaders = [], fromParams = [], fromCookies = [] }: JwtProvider): readonly Place[] {
  const issuers = issuer ? [issuer] : undefined;
  const place = (kind: Place['kind'], name: string, prefix = ''): Place => ({ kind, name, prefix, issuers });
  if (fromHeaders.length + fromParams.length + fromCookies.length === 0) {
    return [place('header', 'authorization', 'Bearer '), place('parameter', 'access_token')];
  }
  return [
    ...fromHeaders.map(({ name = '', valuePrefix }) => place('header', name.toLowerCase(), valuePrefix)),
    ...fromParams.map(name => place('parameter', name)),
    ...fromCookies.map(name => place('cookie', name)),
  ];
}

function joined(a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined {
  return a === undefined || b === undefined ? undefined : [...a, ...b];
}

function tokenAt({ kind, name, prefix, issuers }: Place, headers: Headers): readonly FoundToken[] {
  const text = textAt(kind, name, headers);
  if (text === undefined) return [];
  if (prefix === '') return [{ text, header: kind === 'header' ? name : undefined, issuers }];
  const at = text.indexOf(prefix);
  if (at === -1) return [];
  const [token] = /[A-Za-z0-9_.-]+/.exec(text.slice(at + prefix.length)) ?? [''];
  return [{ text: token, header: name, issuers }];
}

function textAt(kind: Place['kind'], name: string, headers: Headers): string | undefined {
  switch (kind) {
    case 'header':
      return headers.get(name);
    case 'parameter': {
      const value = queryParameter(splitPath(headers.get(':path') ?? '').query, name);
      return value === '' ? undefined : value;
    }
    default: {
      const cookies = (headers.get('cookie') ?? '').split(/;\s*/);
      const found = cookies.find(cookie => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
      return found === '' ? undefined : found;
    }
  }
}
