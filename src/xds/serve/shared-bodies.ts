// The bytes of whole responses, put together once for all streams that are brought from the same to the same: only the nonce differs, and that
// may stand last (protobuf: fields in any order). What is sent to how many is told by the names list, which sessions share by identity
// (session/name-sets.ts); a list that nobody shares costs one copy, as it would anyway.
//
// Bounded: past SHARED_BODY_BYTES_MAX the body that was not asked for longest is put together again when it is.

import type { ResourceSet } from '../engine/resource-set.ts';
import { framedString } from '../wire/frame.ts';
import { deltaDiscoveryPieces, discoveryPieces } from './discovery.ts';

/** Bytes of bodies kept. */
export const SHARED_BODY_BYTES_MAX = 32 * 1024 * 1024;
/** A frame so large is sent as it is; smaller ones are put together, as each piece costs something for every stream. */
const OWN_PIECE_BYTES = 16 * 1024;
/** Field number of the nonce in both responses. */
const NONCE = 5;
/** Characters of the digest that make a version text. */
const VERSION_LENGTH = 16;

export interface ResponseContent {
  readonly protocol: 'sotw' | 'delta';
  readonly set: ResourceSet;
  /** Of resources in the set. */
  readonly names: readonly string[];
  /** Delta only. */
  readonly removed: readonly string[];
}

interface Kept extends ResponseContent {
  readonly body: Body;
}

/** The response without its nonce. */
interface Body {
  readonly pieces: readonly Buffer[];
  readonly length: number;
}

export class SharedBodies {
  readonly #bytesMax: number;
  /** In the order in which they were last asked for. */
  readonly #kept = new Map<readonly string[], Kept>();
  #bytes = 0;
  /** Bytes put together, and bytes that had been already. They only ever grow. */
  readonly stats = { madeBytes: 0, sharedBytes: 0 };

  constructor(bytesMax = SHARED_BODY_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The response with this nonce, in pieces that must not be changed. */
  pieces(content: ResponseContent, nonce: string): readonly Buffer[] {
    return [...this.#bodyOf(content).pieces, framedString(NONCE, nonce)];
  }

  /** About so many bytes a response will have; it need not be put together for that. */
  sizeOf(content: ResponseContent): number {
    const known = this.#find(content);
    if (known !== undefined) return known.body.length;
    return content.names.reduce((sum, name) => sum + (content.set.resources.get(name)?.body.length ?? 0), 0);
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
    const body = bodyOf(content);
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

function bodyOf({ protocol, set, names, removed }: ResponseContent): Body {
  const version = set.digest.slice(0, VERSION_LENGTH);
  const { typeUrl } = set;
  const chosen = names.map(name => set.resources.get(name)!);
  const pieces =
    protocol === 'sotw'
      ? discoveryPieces({ versionInfo: version, typeUrl, nonce: '', frames: chosen.map(made => made.sotwFrame) })
      : deltaDiscoveryPieces({
          systemVersionInfo: version,
          typeUrl,
          nonce: '',
          frames: chosen.map(made => made.deltaFrame),
          removed,
        });
  return { pieces: joinSmallPieces(pieces), length: pieces.reduce((sum, piece) => sum + piece.length, 0) };
}

function joinSmallPieces(pieces: readonly Buffer[]): readonly Buffer[] {
  const out: Buffer[] = [];
  let small: Buffer[] = [];
  const close = (): void => {
    if (small.length > 0) out.push(Buffer.concat(small));
    small = [];
  };
  for (const piece of pieces) {
    if (piece.length < OWN_PIECE_BYTES) small.push(piece);
    else {
      close();
      out.push(piece);
    }
  }
  close();
  return out;
}
