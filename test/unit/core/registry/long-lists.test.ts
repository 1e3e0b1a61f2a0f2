// Lists that small objects multiply to, longer than a call may have arguments.

import { describe, expect, test } from 'vitest';
import { endpointShards } from '../../../../src/core/registry/endpoints.ts';
import { ask, world } from '../../world.ts';
import { serviceEntry } from './fixtures.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const address = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

describe('a ServiceEntry', () => {
  test('of 250 ports and 1,000 endpoints has 250,000', () => {
    const ports = numbers(250).map(i => ({ number: i + 1, name: `p${i}`, protocol: 'TCP' }));
    const endpoints = numbers(1_000).map(i => ({ address: address(i) }));
    const state = world([serviceEntry('ext', { hosts: ['a.com'], ports, endpoints, resolution: 'STATIC' })]);
    const [shard] = ask(state, endpointShards, { hostname: 'a.com', namespace: 'default' });
    expect(shard?.endpoints).toHaveLength(250_000);
  });
});
