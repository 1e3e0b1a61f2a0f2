// The hash of an event is of its text alone: not of how long it is or in which form it is at hand.

import { describe, expect, it } from 'vitest';
import { CHAIN_START, chainHash, chainHashHex, chainHashOfBytes } from '../../../src/journal/chain.ts';

describe('the hash of an event', () => {
  it.each([
    ['short', 'x', '{}'],
    ['longer than what is hashed in one call', 's', 'b'.repeat(16_384)],
    ['of a body below that limit and a source that exceeds it', 's'.repeat(512), '€'.repeat(16_300)],
    ['much longer', 's'.repeat(512), '€'.repeat(100_000)],
  ])('is the same of text and of bytes: %s', (_what, source, body) => {
    const ofBytes = chainHashOfBytes(CHAIN_START, {
      seq: 7,
      time: 9,
      source: Buffer.from(source),
      kind: Buffer.from('Add'),
      body: Buffer.from(body),
    }).toString('hex');
    expect(chainHash(CHAIN_START, 7, 9, source, 'Add', body).toString('hex')).toBe(ofBytes);
    expect(chainHashHex(CHAIN_START.toString('hex'), 7, 9, source, 'Add', body)).toBe(ofBytes);
  });
});
