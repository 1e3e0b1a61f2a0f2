import { describe, expect, it } from 'vitest';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { clientNode } from '../../../../../src/core/select/ambient/client.ts';
import { ask, nodeOf, proxyOf } from '../../../world.ts';
import { ambientWorld } from './fixtures.ts';

const query: Query<'', string> = { name: 'test/clientNode', run: clientNode };

describe('the node of a client', () => {
  it.each([
    [{ NODE_NAME: 'n1' }, 'n1'],
    [{ NODE_NAME: 1 }, ''],
    [{}, ''],
  ])('with the metadata %j is %j', (metadata, expected) => {
    expect(ask(ambientWorld([]), query, '', proxyOf(nodeOf({ metadata })))).toBe(expected);
  });
});
