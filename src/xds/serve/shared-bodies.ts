// Whole responses, assembled once for all streams that are sent the same content. Only the nonce differs, and it can be
// the last field (protobuf allows any order). Content is recognised by identity: of the list of names, which sessions
// share (session/name-sets.ts), and of set and list of removals; so none of them is ever changed in place. A list that
// is not shared costs one assembly, as it would without the cache.
//
// Invariants: a response with private keys is put together for one client and never kept. Past SHARED_BODY_BYTES_MAX
// the least recently used body is dropped; streams that still send it keep it, since its bytes are never changed.

import type { ResourceSet } from '../engine/resource-set.ts';
import { SDS } from '../session/types.ts';
import { framedString, joinSmallParts, lengthOf } from '../wire/frame.ts';
import { deltaDiscoveryPieces, discoveryPieces } from './discovery.ts';
import { type KeyOf, lacksKey, noKeys, withKey } from './private-keys.ts';

/** Limit of the cache, in bytes of bodies. */
export const SHARED_BODY_BYTES_MAX = 32 * 1024 * 1024;
/** Field number of the nonce in both responses. */
const NONCE = 5;
/** Characters of the digest in the response's version. */
const VERSION_LENGTH = 16;

export interface ResponseContent {
  readonly protocol: 'sotw' | 'delta';
  readonly set: ResourceSet;
  /** Names of resources in `set`. */
  readonly names: readonly string[];
  /** Delta only. */
  readonly removed: readonly string[];
}

interface Kept extends ResponseContent {
  readonly body: Body;
}

/** A response without its nonce. */
interface Body {
  readonly pieces: readonly Buffer[];
  readonly length: number;
}

export class SharedBodies {
  readonly #bytesMax: number;
  readonly #keyOf: KeyOf;
  /** By the identity of the list of names; least recently used first. */
  readonly #kept = new Map<readonly string[], Kept>();
  #bytes = 0;
  /** Counters: bytes assembled, and bytes that were served from the cache. */
  readonly stats = { madeBytes: 0, sharedBytes: 0 };

  constructor(keyOf: KeyOf = noKeys, bytesMax = SHARED_BODY_BYTES_MAX) {
    this.#keyOf = keyOf;
    this.#bytesMax = bytesMax;
  }

  /** Bytes kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The response with this nonce, in pieces. They are shared and must not be changed. */
  pieces(content: ResponseContent, nonce: string): readonly Buffer[] {
    const body = holdsKeys(content) ? bodyOf(content, this.#keyOf) : this.#bodyOf(content);
    return [...body.pieces, framedString(NONCE, nonce)];
  }

  /** The approximate size of the response, without assembling it. */
  sizeOf(content: ResponseContent): number {
    const known = this.#find(content);
    if (known !== undefined) return known.body.length;
    return content.names.reduce((sum, name) => sum + (content.set.resources.get(name)?.size ?? 0), 0);
  }

  #find({ names, removed, set, protocol }: ResponseContent): Kept | undefined {
    const known = this.#kept.get(names);
    return known?.set === set && known.protocol === protocol && known.removed === removed ? known : undefined;
  }

  #bodyOf(content: ResponseContent): Body {
    const { protocol, set, names, removed } = content;
    const known = this.#find(content);
    if (known !== undefined) {
      this.#kept.delete(names);
      this.#kept.set(names, known);
      this.stats.sharedBytes += known.body.length;
      return known.body;
    }
    const body = bodyOf(content, noKeys);
    this.stats.madeBytes += body.length;
    this.#forget(names);
    this.#kept.set(names, { protocol, set, names, removed, body });
    this.#bytes += body.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#forget(oldest);
    }
    return body;
  }

  #forget(names: readonly string[]): void {
    this.#bytes -= this.#kept.get(names)?.body.length ?? 0;
    this.#kept.delete(names);
  }
}

/** Such a response is put together for one client and kept nowhere. */
function holdsKeys({ set, names }: ResponseContent): boolean {
  return set.typeUrl === SDS && names.some(name => lacksKey(set.resources.get(name)!));
}

function bodyOf({ protocol, set, names, removed }: ResponseContent, keyOf: KeyOf): Body {
  const version = set.digest.slice(0, VERSION_LENGTH);
  const { typeUrl } = set;
  const chosen = names.map(name => withKey(set.resources.get(name)!, keyOf));
  const pieces =
    protocol === 'sotw'
      ? discoveryPieces({ versionInfo: version, typeUrl, nonce: '', frames: chosen.flatMap(made => made.sotwFrame) })
      : deltaDiscoveryPieces({
          systemVersionInfo: version,
          typeUrl,
          nonce: '',
          frames: chosen.flatMap(made => made.deltaFrame),
          removed,
        });
  return { pieces: joinSmallParts(pieces), length: lengthOf(pieces) };
}
