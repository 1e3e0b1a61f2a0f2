// Whole responses, assembled once for all streams that are sent the same content. Only the nonce differs, and it can be
// the last field (protobuf allows any order). Content is recognised by identity: of the list of names, which sessions
// share (session/name-sets.ts), and of set and list of removals; so none of them is ever changed in place. A list that
// is not shared costs one assembly, as it would without the cache.
//
// Invariants: a response with private keys is put together for one client and never kept. Past SHARED_BODY_BYTES_MAX
// the least recently used body is dropped; streams that still send it keep it, since its bytes are never changed.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { joined } from '../../core/base/groups.ts';
import type { Steps } from '../../core/base/steps.ts';
import type { ResourceSet } from '../engine/resource-set.ts';
import { SDS } from '../session/types.ts';
import { framedString, joinSmallParts, lengthOf, MESSAGE_BYTES_MAX } from '../wire/frame.ts';
import { deltaDiscoveryPieces, discoveryPieces } from './discovery.ts';
import { type KeyOf, lacksKey, noKeys, withKey } from './private-keys.ts';

/** Limit of the cache, in bytes of bodies. */
export const SHARED_BODY_BYTES_MAX = 32 * 1024 * 1024;
/** Field number of the nonce in both responses. */
const NONCE = 5;
/** Characters of the digest in the response's version. */
const VERSION_LENGTH = 16;
/** Frames that are joined in one turn: some megabytes. */
export const RESOURCES_PER_TURN = 4_096;

export interface ResponseContent {
  readonly protocol: 'sotw' | 'delta';
  readonly set: ResourceSet;
  /** Names of resources in `set`. */
  readonly names: readonly string[];
  /** Delta only. */
  readonly removed: readonly string[];
}

interface Kept<B> extends ResponseContent {
  readonly body: B;
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
  readonly #kept = new Map<readonly string[], Kept<Body>>();
  /** Bodies that are being assembled, by the same. */
  readonly #assembled = new Map<readonly string[], Kept<Promise<Body>>>();
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

  /**
   * The response with this nonce, in pieces. They are shared and must not be changed. A promise: they are assembled in
   * turns.
   */
  pieces(content: ResponseContent, nonce: string): readonly Buffer[] | Promise<readonly Buffer[]> {
    if (holdsKeys(content)) {
      const body = inTurns(assembling(content, this.#keyOf));
      return body instanceof Promise ? body.then(made => withNonce(made, nonce)) : withNonce(body, nonce);
    }
    const known = this.#known(content);
    if (known !== undefined) return withNonce(known, nonce);
    const body = this.#begun(content) ?? inTurns(assembling(content, noKeys));
    if (!(body instanceof Promise)) return withNonce(this.#keep(content, body), nonce);
    return this.#share(content, body).then(made => withNonce(made, nonce));
  }

  /** What another stream with the same content waits for. */
  #begun(content: ResponseContent): Promise<Body> | undefined {
    const begun = this.#assembled.get(content.names);
    return begun !== undefined && isSame(begun, content) ? begun.body : undefined;
  }

  async #share(content: ResponseContent, assembled: Promise<Body>): Promise<Body> {
    const { protocol, set, names, removed } = content;
    this.#assembled.set(names, { protocol, set, names, removed, body: assembled });
    try {
      const body = await assembled;
      const known = this.#known(content);
      return known ?? this.#keep(content, body);
    } finally {
      if (this.#assembled.get(names)?.body === assembled) this.#assembled.delete(names);
    }
  }

  /** The approximate size of the response, without assembling it. */
  sizeOf(content: ResponseContent): number {
    const known = this.#find(content);
    if (known !== undefined) return known.body.length;
    return content.names.reduce((sum, name) => sum + (content.set.resources.get(name)?.size ?? 0), 0);
  }

  #find(content: ResponseContent): Kept<Body> | undefined {
    const known = this.#kept.get(content.names);
    return known !== undefined && isSame(known, content) ? known : undefined;
  }

  #known(content: ResponseContent): Body | undefined {
    const known = this.#find(content);
    if (known === undefined) return undefined;
    this.#kept.delete(content.names);
    this.#kept.set(content.names, known);
    this.stats.sharedBytes += known.body.length;
    return known.body;
  }

  #keep({ protocol, set, names, removed }: ResponseContent, body: Body): Body {
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

/** Of two with the same list of names. */
function isSame(a: ResponseContent, b: ResponseContent): boolean {
  return a.set === b.set && a.protocol === b.protocol && a.removed === b.removed;
}

function withNonce({ pieces }: Body, nonce: string): readonly Buffer[] {
  return [...pieces, framedString(NONCE, nonce)];
}

/** At once if one step is enough. */
function inTurns<R>(steps: Steps<R>): R | Promise<R> {
  const step = steps.next();
  return step.done === true ? step.value : goOn(steps);
}

async function goOn<R>(steps: Steps<R>): Promise<R> {
  for (;;) {
    await nextTurn();
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Pauses after each RESOURCES_PER_TURN resources. */
function* assembling(content: ResponseContent, keyOf: KeyOf): Steps<Body> {
  const { protocol, set, names, removed } = content;
  const frames: (readonly Buffer[])[] = [];
  for (let from = 0; from < names.length; from += RESOURCES_PER_TURN) {
    if (from > 0) yield;
    const chosen = names.slice(from, from + RESOURCES_PER_TURN).map(name => withKey(set.resources.get(name)!, keyOf));
    const parts = chosen.flatMap(made => (protocol === 'sotw' ? made.sotwFrame : made.deltaFrame));
    frames.push(names.length > RESOURCES_PER_TURN ? joinSmallParts(parts) : parts);
  }
  if (frames.length > 1) yield;
  const version = set.digest.slice(0, VERSION_LENGTH);
  const whole = { typeUrl: set.typeUrl, nonce: '', frames: joined(frames) };
  const pieces =
    protocol === 'sotw'
      ? discoveryPieces({ ...whole, versionInfo: version })
      : deltaDiscoveryPieces({ ...whole, systemVersionInfo: version, removed });
  const length = lengthOf(pieces);
  if (length > MESSAGE_BYTES_MAX) {
    throw new Error(
      `${names.length} resources of ${set.typeUrl} have ${length} bytes, and a message at most ${MESSAGE_BYTES_MAX}`,
    );
  }
  return { pieces: joinSmallParts(pieces), length };
}
