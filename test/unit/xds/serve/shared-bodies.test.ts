// Response bodies are assembled once for all streams with the same content, never mixed up, and bounded.

import { describe, expect, it } from 'vitest';
import { ResourceSet } from '../../../../src/xds/engine/resource-set.ts';
import { deltaDiscoveryResponse, discoveryResponse } from '../../../../src/xds/serve/discovery.ts';
import { noKeys } from '../../../../src/xds/serve/private-keys.ts';
import { type ResponseContent, SharedBodies } from '../../../../src/xds/serve/shared-bodies.ts';
import { typeOf } from '../../../../src/xds/wire/registry.ts';

const CDS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
const set = new ResourceSet(CDS, [
  { name: 'a', message: { name: 'a' } },
  { name: 'b', message: { name: 'b', altStatName: 'x'.repeat(100) } },
]);
const none: readonly string[] = [];

function decoded(protocol: 'sotw' | 'delta', pieces: readonly Buffer[]): unknown {
  const type = typeOf(`envoy.service.discovery.v3.${protocol === 'sotw' ? '' : 'Delta'}DiscoveryResponse`);
  return type.decode(Buffer.concat(pieces)).toJSON();
}

describe('response bodies', () => {
  const names = ['a', 'b'];
  const removed = ['gone', ''];

  it.each(['sotw', 'delta'] as const)('decode like a response encoded alone: %s', protocol => {
    const content: ResponseContent = { protocol, set, names, removed: protocol === 'delta' ? removed : none };
    const version = set.digest.slice(0, 16);
    const made = names.map(name => set.resources.get(name)!);
    const alone =
      protocol === 'sotw'
        ? discoveryResponse({ versionInfo: version, typeUrl: CDS, nonce: 'n', frames: made.flatMap(m => m.sotwFrame) })
        : deltaDiscoveryResponse({
            systemVersionInfo: version,
            typeUrl: CDS,
            nonce: 'n',
            frames: made.flatMap(m => m.deltaFrame),
            removed,
          });
    expect(decoded(protocol, new SharedBodies().pieces(content, 'n'))).toEqual(decoded(protocol, [alone]));
  });

  it('are one buffer for all streams with the same content, for any nonces', () => {
    const bodies = new SharedBodies();
    const content: ResponseContent = { protocol: 'delta', set, names, removed: none };
    const [first, nonce] = bodies.pieces(content, 'one');
    const [second, other] = bodies.pieces(content, 'two');
    expect(second).toBe(first);
    expect(other).not.toEqual(nonce);
    expect(bodies.stats).toEqual({ madeBytes: first!.length, sharedBytes: first!.length });
    for (const differing of [{ protocol: 'sotw' }, { removed }, { names: ['a'] }] as const) {
      expect(bodies.pieces({ ...content, ...differing }, 'one')[0]).not.toEqual(first);
    }
    const changed = new ResourceSet(
      CDS,
      [...names].map(name => ({ name, message: { name, altStatName: 'y' } })),
    );
    expect(bodies.pieces({ ...content, set: changed }, 'one')[0]).not.toEqual(first);
  });

  it('contain large resources without a copy', () => {
    const large = new ResourceSet(CDS, [
      { name: 'a', message: { name: 'a' } },
      { name: 'b', message: { name: 'b', altStatName: 'x'.repeat(20_000) } },
      { name: 'c', message: { name: 'c' } },
    ]);
    const frames = [...large.resources.values()].flatMap(made => made.deltaFrame);
    const content: ResponseContent = { protocol: 'delta', set: large, names: ['a', 'b', 'c'], removed: none };
    const pieces = new SharedBodies().pieces(content, 'n');
    expect(pieces).toHaveLength(4);
    expect(pieces[1]).toBe(frames[1]);
    const parts = { systemVersionInfo: large.digest.slice(0, 16), typeUrl: CDS, nonce: 'n', frames, removed: none };
    expect(decoded('delta', pieces)).toEqual(decoded('delta', [deltaDiscoveryResponse(parts)]));
  });

  it('are kept up to a number of bytes, the most recently used ones', () => {
    const lists = [['a'], ['b'], ['a', 'b']];
    const content = (list: readonly string[]): ResponseContent => ({
      protocol: 'delta',
      set,
      names: list,
      removed: none,
    });
    const sizes = lists.map(list => new SharedBodies().pieces(content(list), '')[0]!.length);
    const bodies = new SharedBodies(noKeys, sizes[0]! + sizes[2]!);
    const [first] = bodies.pieces(content(lists[0]!), '');
    bodies.pieces(content(lists[1]!), '');
    bodies.pieces(content(lists[0]!), '');
    bodies.pieces(content(lists[2]!), '');
    expect(bodies.bytes).toBe(sizes[0]! + sizes[2]!);
    expect(bodies.pieces(content(lists[0]!), '')[0]).toBe(first);
    bodies.pieces(content(lists[1]!), '');
    expect(bodies.bytes).toBeLessThanOrEqual(sizes[0]! + sizes[2]!);
  });
});
