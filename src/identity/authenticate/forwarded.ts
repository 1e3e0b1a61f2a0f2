// Identities that a trusted proxy in front of us has verified and hands on (x-forwarded-client-cert). An operator names
// the addresses to trust; a header from anywhere else is not read at all.
//
// All hops count, as in Istio: URIs and DNS names of each, and the common name of its subject.
// Source: Istio security/pkg/server/ca/authenticate/xfcc_authenticator.go; Envoy "x-forwarded-client-cert".

import ipaddr from 'ipaddr.js';
import type { Authenticator } from './authenticator.ts';

export const FORWARDED_HEADER = 'x-forwarded-client-cert';
const HEADER_CHARS_MAX = 16_384;
const KEYS: readonly string[] = ['By', 'Hash', 'Cert', 'Chain', 'Subject', 'URI', 'DNS'];
const SUBJECT_PARTS: readonly string[] = [
  'CN',
  'SERIALNUMBER',
  'C',
  'L',
  'ST',
  'STREET',
  'O',
  'OU',
  'POSTALCODE',
  'DC',
  'UID',
];

/** `cidrs`: those without a length never match, as in Istio. */
export function forwarded(cidrs: readonly string[]): Authenticator {
  return {
    name: 'forwarded certificate',
    authenticate: async ({ address, header }) => {
      const [value] = header(FORWARDED_HEADER);
      if (value === undefined || value === '') return { kind: 'none', reason: `no ${FORWARDED_HEADER}` };
      if (!isTrusted(address, cidrs)) return { kind: 'refused', reason: `${address} is no trusted proxy` };
      const identities = forwardedIdentities(value);
      if (identities === undefined) return { kind: 'refused', reason: `${FORWARDED_HEADER} cannot be read` };
      return { kind: 'proven', caller: { identities, proof: { how: 'forwarded', peer: address } } };
    },
  };
}

export function isTrusted(address: string, cidrs: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  if (ip.range() === 'loopback') return true;
  return cidrs.some(cidr => {
    if (!cidr.includes('/') || !ipaddr.isValidCIDR(cidr)) return false;
    const [network, length] = ipaddr.parseCIDR(cidr);
    return network.kind() === ip.kind() && ip.match(network, length);
  });
}

/** Undefined: not a header of this kind. */
export function forwardedIdentities(value: string): readonly string[] | undefined {
  if (value.length > HEADER_CHARS_MAX) return undefined;
  const groups = splitOutsideQuotes(value, ',');
  const found: string[] = [];
  for (const group of groups ?? ['']) {
    const fields = splitOutsideQuotes(group, ';');
    const pairs = fields?.map(pairOf);
    if (pairs === undefined || pairs.some(pair => pair === undefined)) return undefined;
    const valuesOf = (key: string): string[] => pairs.flatMap(pair => (pair?.[0] === key ? [pair[1]] : []));
    const subjects = valuesOf('Subject').filter(subject => subject !== '');
    const names = subjects.map(commonNameOf);
    if (names.some(name => name === undefined)) return undefined;
    found.push(...valuesOf('URI'), ...valuesOf('DNS'), ...names.filter(name => name !== undefined));
  }
  return found;
}

function pairOf(field: string): readonly [string, string] | undefined {
  const at = field.indexOf('=');
  const key = field.slice(0, at).trim();
  if (at < 0 || !KEYS.includes(key)) return undefined;
  return [key, unquoted(field.slice(at + 1).trim())];
}

/** '' if the subject has none; undefined: it has parts that are no subject's. */
function commonNameOf(subject: string): string | undefined {
  let name = '';
  for (const part of splitOutsideQuotes(subject.replace(/^\//, ''), ',') ?? ['?']) {
    const at = part.indexOf('=');
    const key = part.slice(0, at).trim().toUpperCase();
    if (at < 0 || !SUBJECT_PARTS.includes(key)) return undefined;
    if (key === 'CN') name = part.slice(at + 1).trim();
  }
  return name;
}

/** Undefined: a quote is not closed. */
function splitOutsideQuotes(text: string, separator: string): readonly string[] | undefined {
  const parts: string[] = [];
  let quoted = false;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '\\' && quoted) i++;
    else if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return quoted ? undefined : [...parts, text.slice(from)];
}

function unquoted(text: string): string {
  return text.startsWith('"') && text.endsWith('"') && text.length > 1
    ? text.slice(1, -1).replace(/\\(.)/g, '$1')
    : text;
}
