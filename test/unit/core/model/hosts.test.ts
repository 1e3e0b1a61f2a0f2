import { describe, expect, test } from 'vitest';
import {
  kubernetesServiceOf,
  matches,
  mostSpecific,
  resolveGatewayName,
  resolveShortName,
  subsetOf,
} from '../../../../src/core/model/hosts.ts';

test.each([
  ['a.com', 'a.com', true],
  ['*.com', 'a.com', true],
  ['a.com', '*.com', true],
  ['*.a.com', '*.com', true],
  ['*.com', '*.a.com', true],
  ['*foo.com', 'xfoo.com', true],
  ['*.a.com', '*.b.com', false],
  ['a.com', 'b.com', false],
])('the host %s matches %s: %s', (a, b, expected) => {
  expect(matches(a, b)).toBe(expected);
});

test.each([
  ['a.com', '*.com', true],
  ['*.a.com', '*.com', true],
  ['*.com', '*.a.com', false],
  ['*.com', 'a.com', false],
  ['*', '*', true],
])('the host %s is a subset of %s: %s', (a, b, expected) => {
  expect(subsetOf(a, b)).toBe(expected);
});

describe('the most specific host', () => {
  test('is the name itself, else the longest wildcard', () => {
    expect(mostSpecific('a.b.com', ['*', '*.com', 'a.b.com', '*.b.com'])).toBe('a.b.com');
    expect(mostSpecific('a.b.com', ['*', '*.com', '*.b.com', '*.c.com'])).toBe('*.b.com');
    expect(mostSpecific('a.b.com', ['*.c.com'])).toBeUndefined();
  });
  test('covers a wildcard only if it is the same or broader', () => {
    expect(mostSpecific('*.b.com', ['x.b.com', '*.com'])).toBe('*.com');
  });
});

test.each([
  ['reviews', 'reviews.ns.svc.cluster.local'],
  ['reviews.prod', 'reviews.prod'],
  ['*', '*'],
  ['10.0.0.1', '10.0.0.1'],
  ['::1', '::1'],
  ['', ''],
])('the short name %j is resolved to %j', (host, expected) => {
  expect(resolveShortName(host, 'ns', 'cluster.local')).toBe(expected);
});

test.each([
  ['mesh', 'mesh'],
  ['./g', 'ns/g'],
  ['other/g', 'other/g'],
  ['g', 'ns/g'],
  ['g.other.svc.cluster.local', 'other/g'],
])('the gateway name %s is resolved to %s', (gateway, expected) => {
  expect(resolveGatewayName(gateway, 'ns')).toBe(expected);
});

test('a host name is resolved to its Service', () => {
  expect(kubernetesServiceOf('a.b.svc.cluster.local', 'cluster.local')).toEqual({ name: 'a', namespace: 'b' });
  expect(kubernetesServiceOf('x.a.b.svc.cluster.local', 'cluster.local')).toBeUndefined();
  expect(kubernetesServiceOf('a.example.com', 'cluster.local')).toBeUndefined();
});
