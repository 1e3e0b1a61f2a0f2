// URLs as Go's net/url takes them, because that is what Istio and the API server check them with: how strict it is, and
// where not. Only what the rules ask for is returned.

import { utf8 } from '../base/base64.ts';

export interface GoUrl {
  /** In lower case; empty if there is none. */
  readonly scheme: string;
  /** Without the brackets of IPv6. */
  readonly hostname: string;
  readonly port: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\0-\x1f\x7f]/;
const SCHEME = /^([A-Za-z][A-Za-z0-9+\-.]*):/;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
/** In a host only octets beyond ASCII (and the percent sign of a zone) may be escaped. */
const BAD_HOST_ESCAPE = /%(?!25|[89A-Fa-f][0-9A-Fa-f])/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what is allowed in a host: ASCII's unreserved and Go's list, and all beyond ASCII
const HOST = /^([A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%]|[^\x00-\x7f])*$/;
const USER = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;
const PORT = /^(:\d*)?$/;
const NOWHERE = { hostname: '', port: '' };

/** url.Parse: anything that may be a reference. `undefined` where Go has an error. */
export function parseUrl(text: string): GoUrl | undefined {
  const hash = text.indexOf('#');
  if (hash < 0) return parse(text, false);
  return BAD_ESCAPE.test(text.slice(hash + 1)) ? undefined : parse(text.slice(0, hash), false);
}

/** url.ParseRequestURI: an absolute URL or an absolute path. `undefined` where Go has an error. */
export function parseRequestUri(text: string): GoUrl | undefined {
  return parse(text, true);
}

function parse(text: string, request: boolean): GoUrl | undefined {
  if (CONTROL.test(text) || (text === '' && request) || text.startsWith(':')) return undefined;
  if (text === '*') return { scheme: '', ...NOWHERE };
  const [whole = '', given = ''] = SCHEME.exec(text) ?? [];
  const scheme = given.toLowerCase();
  const question = text.indexOf('?', whole.length);
  const rest = text.slice(whole.length, question < 0 ? undefined : question);
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { scheme, ...NOWHERE };
    const [segment = ''] = rest.split('/');
    return request || segment.includes(':') || BAD_ESCAPE.test(rest) ? undefined : { scheme, ...NOWHERE };
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || (!request && !rest.startsWith('///')));
  if (!hasAuthority) return BAD_ESCAPE.test(rest) ? undefined : { scheme, ...NOWHERE };
  const slash = rest.indexOf('/', 2);
  const path = slash < 0 ? '' : rest.slice(slash);
  const authority = parseAuthority(rest.slice(2, slash < 0 ? undefined : slash));
  return authority === undefined || BAD_ESCAPE.test(path) ? undefined : { scheme, ...authority };
}

function parseAuthority(authority: string): Omit<GoUrl, 'scheme'> | undefined {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(at, 0));
  if (!USER.test(user) || BAD_ESCAPE.test(user)) return undefined;
  const host = authority.slice(at + 1);
  if (!HOST.test(host) || BAD_HOST_ESCAPE.test(host)) return undefined;
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    return end < 0 ? undefined : withPort(host.slice(1, end), host.slice(end + 1));
  }
  const colon = host.lastIndexOf(':');
  return colon < 0 ? withPort(host, '') : withPort(host.slice(0, colon), host.slice(colon));
}

function withPort(hostname: string, port: string): Omit<GoUrl, 'scheme'> | undefined {
  return PORT.test(port) ? { hostname, port: port.slice(1) } : undefined;
}

/** Characters that url.URL.String leaves in a path as they are, if nothing else in it has to be escaped. */
const WELL_ESCAPED = /^([A-Za-z0-9\-_.~!$&'()*+,;=:@[\]/?]|%[0-9A-Fa-f]{2})*$/;
/** Octets that Go's escape leaves alone. */
const UNESCAPED = /^[A-Za-z0-9\-_.~$&+,/:;=@]$/;

/**
 * url.Parse, then String: the scheme in lower case, the path escaped. A reference without a scheme gets `scheme`.
 * `undefined` where url.Parse has an error.
 */
export function urlText(text: string, scheme: string): string | undefined {
  const parsed = parseUrl(text);
  if (parsed === undefined) return undefined;
  const hash = text.indexOf('#');
  const whole = hash < 0 ? text : text.slice(0, hash);
  const fragment = hash < 0 || hash === text.length - 1 ? '' : `#${escaped(text.slice(hash + 1))}`;
  const rest = whole.slice(parsed.scheme === '' ? 0 : parsed.scheme.length + 1);
  const question = rest.indexOf('?');
  const query = question < 0 ? '' : rest.slice(question);
  const location = question < 0 ? rest : rest.slice(0, question);
  const shown = location.startsWith('//') ? withAuthority(location) : opaqueOrPath(location, parsed.scheme);
  return `${parsed.scheme === '' ? scheme : parsed.scheme}:${shown}${query}${fragment}`;
}

function withAuthority(location: string): string {
  const slash = location.indexOf('/', 2);
  const end = slash < 0 ? location.length : slash;
  return location.slice(0, end) + escaped(location.slice(end));
}

/** What follows a scheme without a slash is opaque and stays; a path that had no scheme gets an empty authority. */
function opaqueOrPath(location: string, scheme: string): string {
  if (scheme === '') return location === '' ? '' : `//${escaped(location)}`;
  return location.startsWith('/') ? escaped(location) : location;
}

function escaped(path: string): string {
  if (WELL_ESCAPED.test(path)) return path;
  let text = '';
  for (const octet of octetsOf(path)) {
    const character = String.fromCharCode(octet);
    text += UNESCAPED.test(character) ? character : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}

/** The octets of a path, escaped ones decoded. */
function octetsOf(path: string): readonly number[] {
  return path
    .split(/(%[0-9A-Fa-f]{2})/)
    .flatMap((part, i) => (i % 2 === 1 ? [Number.parseInt(part.slice(1), 16)] : utf8(part)));
}
