import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  outboundClusterName,
  parseClusterName,
  sniDnatName,
} from '../../../../../src/core/select/cluster/cluster-names.ts';
import { parameters } from '../../../../property/seed.ts';

const hosts = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?(\.[a-z]{1,8}){0,3}$/);
const subsets = fc.constantFrom('', 'v1', 'canary-2');
const ports = fc.integer({ min: 1, max: 65535 });

describe('names of clusters', () => {
  it('are parsed into the parts they were built from', () => {
    fc.assert(
      fc.property(hosts, subsets, ports, (hostname, subset, port) => {
        const parts = { direction: 'outbound', port, subset, hostname };
        expect(parseClusterName(outboundClusterName(hostname, subset, port))).toEqual({ ...parts, sniDnat: false });
        expect(parseClusterName(sniDnatName(hostname, subset, port))).toEqual({ ...parts, sniDnat: true });
      }),
      parameters(100),
    );
  });

  it.each([
    'BlackHoleCluster',
    '',
    'outbound|80|x',
    'sideways|80||a',
    'outbound|x||a',
    'outbound|80||a|b',
    '80||a|',
    'outbound|80',
  ])('reject %s', name => {
    expect(parseClusterName(name)).toBeUndefined();
  });
});
