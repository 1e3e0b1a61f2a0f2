// The headers that a route appends, sets and removes in requests and responses.
//
// Pseudo headers and `host` cannot be mutated as headers; setting `:authority` or `host` of a request is a rewrite of
// the authority instead.
// Source: Istio pilot/pkg/networking/core/route/route.go (TranslateHeadersOperations).

import type { Headers } from '../../../core/schema/istio-types.gen.ts';
import { type HeaderValueOption, HeaderValueOption_HeaderAppendAction } from '../../proto/types.gen.ts';
import { orNone } from '../common/or-none.ts';
import { sortedKeys } from '../common/sorted-keys.ts';

export interface HeaderOperations {
  readonly requestHeadersToAdd: readonly HeaderValueOption[];
  readonly requestHeadersToRemove: readonly string[];
  readonly responseHeadersToAdd: readonly HeaderValueOption[];
  readonly responseHeadersToRemove: readonly string[];
  /** '' if the authority stays. */
  readonly authority: string;
}

/** Most routes have none: one object for all of them. */
const NONE: HeaderOperations = {
  requestHeadersToAdd: [],
  requestHeadersToRemove: [],
  responseHeadersToAdd: [],
  responseHeadersToRemove: [],
  authority: '',
};

export function headerOperations(headers: Headers | undefined): HeaderOperations {
  if (headers === undefined) return NONE;
  const { request, response } = headers;
  return {
    requestHeadersToAdd: joined(setting(request?.set), adding(request?.add)),
    requestHeadersToRemove: (request?.remove ?? []).filter(isMutable),
    responseHeadersToAdd: joined(setting(response?.set), adding(response?.add)),
    responseHeadersToRemove: (response?.remove ?? []).filter(isMutable),
    authority: authorityOf(request?.set) || authorityOf(request?.add),
  };
}

/** The operations of the route, then those of its destination. The route's authority counts if it has one. */
export function joinOperations(route: HeaderOperations, destination: HeaderOperations): HeaderOperations {
  if (destination === NONE) return route;
  if (route === NONE) return destination;
  return {
    requestHeadersToAdd: joined(route.requestHeadersToAdd, destination.requestHeadersToAdd),
    requestHeadersToRemove: joined(route.requestHeadersToRemove, destination.requestHeadersToRemove),
    responseHeadersToAdd: joined(route.responseHeadersToAdd, destination.responseHeadersToAdd),
    responseHeadersToRemove: joined(route.responseHeadersToRemove, destination.responseHeadersToRemove),
    authority: route.authority || destination.authority,
  };
}

/** One of them itself while the other is empty. */
function joined<T>(first: readonly T[], second: readonly T[]): readonly T[] {
  if (second.length === 0) return first;
  return first.length === 0 ? second : [...first, ...second];
}

const ALT_SERVICE_SECONDS = 86_400;

/** Announces HTTP/3 over QUIC on the port to clients, valid for a day. */
export function withAltService(operations: HeaderOperations, port: number): HeaderOperations {
  const header = { key: 'alt-svc', value: `h3=":${port}"; ma=${ALT_SERVICE_SECONDS}` };
  return { ...operations, responseHeadersToAdd: [...operations.responseHeadersToAdd, { header }] };
}

/** The fields of a Route or a cluster weight, the empty ones left out. */
export function headerFields(operations: HeaderOperations): Partial<Omit<HeaderOperations, 'authority'>> {
  if (operations === NONE) return NO_FIELDS;
  return {
    requestHeadersToAdd: orNone(operations.requestHeadersToAdd),
    requestHeadersToRemove: orNone(operations.requestHeadersToRemove),
    responseHeadersToAdd: orNone(operations.responseHeadersToAdd),
    responseHeadersToRemove: orNone(operations.responseHeadersToRemove),
  };
}

const NO_FIELDS: ReturnType<typeof headerFields> = {};

function isMutable(name: string): boolean {
  return !name.startsWith(':') && !isHost(name);
}

/** A name of another length is not put into small letters. */
function isHost(name: string): boolean {
  return name.length === HOST.length && name.toLowerCase() === HOST;
}

function isAuthority(name: string): boolean {
  return name.length === AUTHORITY.length && name.toLowerCase() === AUTHORITY;
}

const HOST = 'host';
const AUTHORITY = ':authority';

type Values = Readonly<Record<string, string>> | undefined;

function setting(values: Values): readonly HeaderValueOption[] {
  const appendAction = HeaderValueOption_HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD;
  const found: HeaderValueOption[] = [];
  for (const key of sortedKeys(values))
    if (isMutable(key)) found.push({ header: { key, value: values![key]! }, appendAction });
  return found;
}

/** Appending is the default of the field. */
function adding(values: Values): readonly HeaderValueOption[] {
  const found: HeaderValueOption[] = [];
  for (const key of sortedKeys(values)) if (isMutable(key)) found.push({ header: { key, value: values![key]! } });
  return found;
}

/** With both names given, `:authority` counts (Istio picks one at random). */
function authorityOf(values: Values): string {
  const name = sortedKeys(values).find(key => isHost(key) || isAuthority(key));
  return name === undefined ? '' : values![name]!;
}
