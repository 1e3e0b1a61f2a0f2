// Response bodies are assembled once for all streams with the same content, never mixed up, and bounded.

import { describe, expect, it } from 'vitest';
import { ResourceSet } from '../../../../src/xds/engine/resource-set.ts';
import { deltaDiscoveryResponse, discoveryResponse } from '../../../../src/xds/serve/discovery.ts';
import { noKeys } from '../../../../src/xds/serve/private-keys.ts';
import { RESOURCES_PER_TURN, type ResponseContent, SharedBodies } from '../../../../src/xds/serve/shared-bodies.ts';
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

/** Those of a response that is assembled at once. */
function piecesOf(bodies: SharedBodies, content: ResponseContent, nonce: string): readonly Buffer[] {
  const pieces = bodies.pieces(content, nonce);
  if (pieces instanceof Promise) throw new Error('the response is assembled in turns');
  return pieces;
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
    expect(decoded(protocol, piecesOf(new SharedBodies(), content, 'n'))).toEqual(decoded(protocol, [alone]));
  });

  it('are refused if they are larger than a message may be', () => {
    const part = Buffer.alloc(2 ** 28);
    const large = { deltaFrame: Array.from({ length: 8 }, () => part) };
    const resources = new Map([['a', large]]);
    const content = { protocol: 'delta', set: { typeUrl: CDS, digest: 'd', resources }, names: ['a'], removed: none };
    expect(() => new SharedBodies().pieces(content as unknown as ResponseContent, 'n')).toThrow(
      /^1 resources of \S+Cluster have 21474837\d\d bytes, and a message at most 2147483647$/,
    );
  });

  it('are one buffer for all streams with the same content, for any nonces', () => {
    const bodies = new SharedBodies();
    const content: ResponseContent = { protocol: 'delta', set, names, removed: none };
    const [first, nonce] = piecesOf(bodies, content, 'one');
    const [second, other] = piecesOf(bodies, content, 'two');
    expect(second).toBe(first);
    expect(other).not.toEqual(nonce);
    expect(bodies.stats).toEqual({ madeBytes: first!.length, sharedBytes: first!.length });
    for (const differing of [{ protocol: 'sotw' }, { removed }, { names: ['a'] }] as const) {
      expect(piecesOf(bodies, { ...content, ...differing }, 'one')[0]).not.toEqual(first);
    }
    const changed = new ResourceSet(
      CDS,
      [...names].map(name => ({ name, message: { name, altStatName: 'y' } })),
    );
    expect(piecesOf(bodies, { ...content, set: changed }, 'one')[0]).not.toEqual(first);
  });

  it('contain large resources without a copy', () => {
    const large = new ResourceSet(CDS, [
      { name: 'a', message: { name: 'a' } },
      { name: 'b', message: { name: 'b', altStatName: 'x'.repeat(20_000) } },
      { name: 'c', message: { name: 'c' } },
    ]);
    const frames = [...large.resources.values()].flatMap(made => made.deltaFrame);
    const content: ResponseContent = { protocol: 'delta', set: large, names: ['a', 'b', 'c'], removed: none };
    const pieces = piecesOf(new SharedBodies(), content, 'n');
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
    const sizes = lists.map(list => piecesOf(new SharedBodies(), content(list), '')[0]!.length);
    const bodies = new SharedBodies(noKeys, sizes[0]! + sizes[2]!);
    const [first] = piecesOf(bodies, content(lists[0]!), '');
    piecesOf(bodies, content(lists[1]!), '');
    piecesOf(bodies, content(lists[0]!), '');
    piecesOf(bodies, content(lists[2]!), '');
    expect(bodies.bytes).toBe(sizes[0]! + sizes[2]!);
    expect(piecesOf(bodies, content(lists[0]!), '')[0]).toBe(first);
    piecesOf(bodies, content(lists[1]!), '');
    expect(bodies.bytes).toBeLessThanOrEqual(sizes[0]! + sizes[2]!);
  });

  it.each(['sotw', 'delta'] as const)('are assembled in turns if they have very many resources: %s', async protocol => {
    const count = 3 * RESOURCES_PER_TURN + 5;
    const many = new ResourceSet(
      CDS,
      Array.from({ length: count }, (_, i) => ({ name: `c${i}`, message: { name: `c${i}` } })),
    );
    const content: ResponseContent = { protocol, set: many, names: [...many.resources.keys()], removed: none };
    const bodies = new SharedBodies();
    const assembled = bodies.pieces(content, 'n');
    const ofAnother = bodies.pieces({ ...content }, 'other');
    let [turns, isOver] = [0, false];
    const countTurn = (): void => {
      turns++;
      if (!isOver) setImmediate(countTurn);
    };
    setImmediate(countTurn);
    const pieces = await assembled;
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(3);
    const made = [...many.resources.values()];
    const versionInfo = many.digest.slice(0, 16);
    const parts = { typeUrl: CDS, nonce: 'n' };
    const alone =
      protocol === 'sotw'
        ? discoveryResponse({ ...parts, versionInfo, frames: made.flatMap(one => one.sotwFrame) })
        : deltaDiscoveryResponse({
            ...parts,
            systemVersionInfo: versionInfo,
            frames: made.flatMap(one => one.deltaFrame),
            removed: none,
          });
    expect(decoded(protocol, pieces)).toEqual(decoded(protocol, [alone]));
    const body = (of: readonly Buffer[]): readonly Buffer[] => of.slice(0, -1);
    expect(body(await ofAnother)[1]).toBe(pieces[1]);
    expect(body(piecesOf(bodies, content, 'later'))[1]).toBe(pieces[1]);
    expect(bodies.stats.madeBytes).toBe(Buffer.concat(body(pieces)).length);
  });
});
