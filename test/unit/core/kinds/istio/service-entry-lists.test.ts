// The lists of a ServiceEntry, which multiply: what one object may come to.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { problemsOf, withSpec } from '../verdict.ts';

describe('the lists of a ServiceEntry, which multiply', () => {
  const made = (
    resolution: string,
    hosts: number,
    ports: number,
    endpoints: number,
    more: JsonObject = {},
  ): readonly string[] =>
    problemsOf(
      withSpec('ServiceEntry', {
        ...more,
        resolution,
        hosts: Array.from({ length: hosts }, (_, i) => `h${i}.com`),
        ports: Array.from({ length: ports }, (_, i) => ({ name: `p${i}`, number: i + 1, protocol: 'HTTP' })),
        ...(endpoints === 0
          ? {}
          : { endpoints: Array.from({ length: endpoints }, (_, i) => ({ address: `10.0.${i >> 8}.${i & 255}` })) }),
      }),
    );

  test.each([
    ['STATIC', 10, 100, 100, undefined],
    ['STATIC', 10, 101, 100, 101_000],
    ['STATIC', 256, 256, 4_096, 268_435_456],
    ['DNS', 256, 256, 0, undefined],
  ])('%s, %i hosts, %i ports, %i endpoints', (resolution, hosts, ports, endpoints, count) => {
    const what = 'hosts times addresses times ports times endpoints';
    const problem = `spec.endpoints: ${what} come to ${count} endpoints; at most 100000 are allowed`;
    expect(made(resolution, hosts, ports, endpoints)).toEqual(count === undefined ? [] : [problem]);
  });

  test('count without endpoints too: each address has listeners of its own', () => {
    const addresses = Array.from({ length: 256 }, (_, i) => `10.0.0.${i}`);
    expect(made('NONE', 39, 10, 0, { addresses })).toEqual([]);
    expect(made('NONE', 40, 10, 0, { addresses })).toEqual([
      'spec.endpoints: hosts times addresses times ports times endpoints come to 102400 endpoints; at most 100000 are allowed',
    ]);
  });
});
