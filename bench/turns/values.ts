// A template of a valid value for a constraint, by the member's name where the constraint does not say what is meant.

import type { Json } from '../../src/core/base/json.ts';
import type { Constraint } from '../../src/core/schema/constraints.ts';
import { fill } from './template.ts';

/** What a member of this name means; the first that the constraint allows. */
const BY_NAME: readonly (readonly [RegExp, Json])[] = [
  [/^(hosts|sniHosts|hostnames|notHosts)$/, 'h%.example.com'],
  [/^(host|hostname|targetHost|domainName)$/, 's'],
  [/^(addresses|ipBlocks|notIpBlocks|remoteIpBlocks|notRemoteIpBlocks|address|ip|destinationSubnets)$/, '%ip'],
  [/^(paths|notPaths|uri|path|prefix|replaceFullPath|replacePrefixMatch)$/, '/p%'],
  [/^(principals|notPrincipals|subjectAltNames)$/, 'cluster.local/ns/a/sa/s%'],
  [/^(requestPrincipals|notRequestPrincipals)$/, 'i%.example.com/s'],
  [/^(serviceAccounts|notServiceAccounts)$/, 'a/s%'],
  [/^(ports|notPorts)$/, '%'],
  [/^(methods|notMethods|allowMethods)$/, 'GET'],
  [/^(gateways)$/, 'a/gw'],
  [/^exportTo$/, 'n%'],
  [/^(url|jwksUri|jwks_uri)$/, 'https://example.com/x%'],
  [/^(sourceSubnet)$/, '10.0.0.0/8'],
  [/^(mirrorPercent|mirror_percent|weight|percent)$/, 1],
  [/^(failoverPriority)$/, 'l%'],
  [/^(issuer)$/, 'i%.example.com'],
  [/^(network|locality)$/, 'r/z%'],
  [/^(key)$/, 'request.headers[h%]'],
  [/^(kind)$/, 'Service'],
  [/^(interval|timeout|ttl|duration|.*Timeout|.*Time|maxAge|backoff|lifetime)$/, '1s'],
  [/^(number|port|containerPort|targetPort|portNumber|sourcePort)$/, '%port'],
  [/^(name)$/, 'x%'],
];

const CANDIDATES: readonly string[] = [
  'x%',
  '1s',
  's%.example.com',
  'example.com/x%',
  'X%',
  '/x%',
  'https://example.com/%',
  '%ip',
  '%',
  'a'.repeat(64),
  '',
];

/** `name`: of the member, of whose list or map it is an element. */
export function validFor(constraint: Constraint, name: string): Json {
  switch (constraint.type) {
    case 'array': {
      const { items = { type: 'string' }, minItems = 1 } = constraint;
      return Array.from({ length: Math.max(1, minItems) }, () => validFor(items, name));
    }
    case 'object':
      return objectOf(constraint, name);
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return numberOf(constraint, name);
    case 'string':
      return textOf(constraint, name);
  }
}

/** The members that there must be; one at least, so that elements differ. */
function objectOf(constraint: Constraint, name: string): Json {
  const { properties, values, required = [], exactlyOne = [] } = constraint;
  if (values !== undefined) return { 'k%': validFor(values, name) };
  if (properties === undefined) return { 'k%': 'v' };
  const chosen = exactlyOne.flatMap(group => (group.some(one => required.includes(one)) ? [] : group.slice(0, 1)));
  const members = [...required, ...chosen];
  if (members.length === 0) {
    const [telling = Object.keys(properties)[0]] = Object.entries(properties)
      .filter(([, one]) => one.type === 'string' && one.enum === undefined)
      .map(([key]) => key);
    if (telling !== undefined) members.push(telling);
  }
  return Object.fromEntries(members.map(key => [key, validFor(properties[key]!, key)]));
}

function numberOf({ minimum = 1, maximum, enum: among }: Constraint, name: string): Json {
  if (among !== undefined) return among[0]!;
  const meant = meaning(name);
  if (meant === '%port' && (maximum ?? 65_535) >= 65_535) return meant;
  return Math.min(Math.max(1, minimum), maximum ?? Number.POSITIVE_INFINITY);
}

function textOf(constraint: Constraint, name: string): Json {
  const { enum: among } = constraint;
  if (among !== undefined) return among.find(one => !/^(|INVALID|UN[A-Z_]*)$/.test(String(one))) ?? among[0]!;
  const meant = meaning(name);
  const candidates = [...(typeof meant === 'string' && meant !== '%port' ? [meant] : []), ...CANDIDATES];
  return candidates.find(one => fits(constraint, String(fill(one, 1)))) ?? 'x%';
}

function meaning(name: string): Json | undefined {
  return BY_NAME.find(([pattern]) => pattern.test(name))?.[1];
}

function fits({ pattern, minLength = 0, maxLength, rules = [] }: Constraint, text: string): boolean {
  if (rules.includes('duration') && !/^\d+s$/.test(text)) return false;
  if (text.length < minLength || text.length > (maxLength ?? Number.POSITIVE_INFINITY)) return false;
  return pattern === undefined || new RegExp(pattern, 'u').test(text);
}
