// The hosts and ports that the rules of a VirtualService lead to, and for whom.

import { expect, test } from 'vitest';
import type { Destination, VirtualService } from '../../../../../src/core/schema/istio-types.gen.ts';
import { destinationsFor, destinationsIn } from '../../../../../src/core/select/scope/destinations.ts';

const at = (host: string, number?: number): Destination => ({
  host,
  ...(number !== undefined && { port: { number } }),
});
const to = (...destinations: readonly Destination[]) => ({ route: destinations.map(destination => ({ destination })) });
const found = (spec: VirtualService, namespace?: string) =>
  destinationsFor({ spec, destinations: destinationsIn(spec) }, namespace);
const hosts = (...args: Parameters<typeof found>) => found(...args).map(({ host }) => host);

test('the destinations of a VirtualService are those of all its rules, mirrors among them, in their order', () => {
  const spec: VirtualService = {
    http: [{ ...to(at('a')), mirror: at('b'), mirrors: [{ destination: at('c') }, {}] }, { redirect: {} }],
    tcp: [to(at('d')), {}],
    tls: [to(at('e')), {}],
  };
  expect(found(spec)).toEqual(['a', 'b', 'c', 'd', 'e'].map(host => ({ host, ports: undefined })));
  expect(found({ http: [{ route: [{}] }] })).toEqual([]);
  expect(found({})).toEqual([]);
  expect(found({ tcp: [to(at('d'))] }, 'near')).toHaveLength(1);
});

test('the ports of a destination are those that its rules name, or all if one names none', () => {
  const ports = (...numbers: readonly (number | undefined)[]) =>
    found({ http: [to(...numbers.map(number => at('a', number)))] })[0]?.ports;
  expect(ports(80, 81, 80)).toEqual([80, 81]);
  expect(ports(80)).toEqual([80]);
  expect(ports(80, undefined, 81)).toBeUndefined();
  expect(ports(undefined, 80)).toBeUndefined();
  expect(ports(0, 80)).toBeUndefined();
});

test('rules for clients of other namespaces lead nowhere, unless one of their matches is for all', () => {
  const rule = (host: string, ...sources: readonly (string | undefined)[]) => ({
    ...to(at(host)),
    match: sources.map(sourceNamespace => (sourceNamespace === undefined ? {} : { sourceNamespace })),
  });
  const spec: VirtualService = {
    http: [
      rule('any'),
      { ...to(at('unmatched')) },
      rule('near', 'near'),
      rule('far', 'far'),
      rule('both', 'far', 'near'),
      rule('mixed', 'far', undefined),
    ],
    tcp: [to(at('tcp'))],
  };
  expect(hosts(spec, 'near')).toEqual(['any', 'unmatched', 'near', 'both', 'mixed', 'tcp']);
  expect(hosts(spec, 'far')).toEqual(['any', 'unmatched', 'far', 'both', 'mixed', 'tcp']);
  expect(hosts(spec, 'third')).toEqual(['any', 'unmatched', 'mixed', 'tcp']);
  expect(hosts(spec, undefined)).toHaveLength(7);
});
