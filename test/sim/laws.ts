// What must be true: when bytes leave, at rest, and of the journal that is left behind. Each check throws a LawBroken
// that says which.

import type { PushReceipt } from '../../src/core/event.ts';
import type { State } from '../../src/core/state.ts';
import { foldHistory, stateHash } from '../../src/offline/load-state.ts';
import { replay } from '../../src/offline/verify-receipts.ts';
import { resourceSources } from '../../src/xds/assemble/types.ts';
import { Engine } from '../../src/xds/engine/engine.ts';
import { CDS, LDS, RDS, rulesOf } from '../../src/xds/session/types.ts';
import { type SimClient, TYPES } from './client.ts';
import { type Content, hashOfBody, type Received } from './contents.ts';
import type { SimControlPlane } from './control-plane.ts';
import type { Platter } from './disk.ts';

export class LawBroken extends Error {
  override readonly name = 'LawBroken';
}

function demand(condition: boolean, what: () => string): asserts condition {
  if (!condition) throw new LawBroken(what());
}

/** Law 7, as bytes leave: a receipt is on the platter before, made from a state that stands before it. */
export class Receipts {
  readonly #platter: Platter;
  #read = 0;
  /** connection and type → receipts, in order. */
  readonly #found = new Map<string, (PushReceipt & { readonly seq: number })[]>();
  readonly #sent = new Map<string, number>();

  constructor(platter: Platter) {
    this.#platter = platter;
  }

  /** `durable`: the journal can be written. While it cannot, receipts are kept to be written later. */
  sending(connection: string, message: Received, durable: boolean): void {
    this.#catchUp();
    const key = `${connection} ${message.typeUrl}`;
    const sent = (this.#sent.get(key) ?? 0) + 1;
    this.#sent.set(key, sent);
    if (!durable) return;
    const receipts = this.#found.get(key) ?? [];
    demand(receipts.length >= sent, () => `law 7: ${sent} responses and ${receipts.length} receipts of ${key}`);
    demand(
      receipts.some(({ digest }) => digest.startsWith(message.version)),
      () => `law 7: no receipt of ${key} has the digest ${message.version} that was sent`,
    );
  }

  /** The state that what is being sent was made from; undefined if its receipt is not on the platter. */
  stateSeqOf(connection: string, message: Received): number | undefined {
    const receipts = this.#found.get(`${connection} ${message.typeUrl}`) ?? [];
    return receipts.findLast(({ digest }) => digest.startsWith(message.version))?.stateSeq;
  }

  #catchUp(): void {
    const { store } = this.#platter;
    const head = store.head().seq;
    while (this.#read < head) {
      const rows = store.page(this.#read + 1, head);
      for (const row of rows) {
        this.#read = row.seq;
        if (row.kind !== 'Receipt') continue;
        const receipt = JSON.parse(row.body) as PushReceipt;
        demand(receipt.stateSeq < row.seq, () => `law 7: receipt ${row.seq} is of a later state, ${receipt.stateSeq}`);
        for (const connection of receipt.connections) {
          const key = `${connection} ${receipt.typeUrl}`;
          const list = this.#found.get(key) ?? [];
          list.push({ ...receipt, seq: row.seq });
          this.#found.set(key, list);
        }
      }
    }
  }
}

/**
 * A cluster is taken away from a delta client only when nothing that it holds needs it, unless its routes are to stay
 * as they are, or were made when the cluster was gone already: then configuration, not the order, leaves them without.
 */
export class Removals {
  /** Connection, type, name and hash → the state from which that was sent last. */
  readonly #sentFrom = new Map<string, State>();

  /** `state`: what is being sent was made from it. */
  sending(client: SimClient, message: Received, connection: string, state: State): void {
    if (client.protocol !== 'delta') return;
    if (message.typeUrl === CDS && message.removed.length > 0) this.#check(client, message.removed, connection, state);
    if (message.typeUrl !== LDS && message.typeUrl !== RDS) return;
    for (const { content } of message.resources) {
      this.#sentFrom.set(keyOf(connection, message.typeUrl, content), state);
    }
  }

  #check(client: SimClient, removed: readonly string[], connection: string, state: State): void {
    const view = viewOf(state, connection);
    for (const type of [LDS, RDS]) {
      for (const [name, { content }] of client.holds.get(type)!) {
        const stays = view?.get(type)?.resources.get(name);
        if (stays === undefined || hashOfBody(stays.body) === content.hash) continue;
        const used = removed.filter(cluster => content.routesTo.has(cluster));
        if (used.length === 0) continue;
        const clusters = viewOf(this.#sentFrom.get(keyOf(connection, type, content)), connection)?.get(CDS)?.resources;
        demand(
          clusters !== undefined && !used.some(cluster => clusters.has(cluster)),
          () =>
            `removal order: a response removes ${used.join()} while ${connection} holds ${name}, which routes to it`,
        );
      }
    }
  }
}

function viewOf(state: State | undefined, connection: string): ReturnType<Engine['viewOf']> | undefined {
  const proxy = state?.proxies.get(connection);
  return state === undefined || proxy === undefined ? undefined : new Engine(resourceSources).viewOf(state, proxy);
}

const keyOf = (connection: string, type: string, { name, hash }: Content): string =>
  `${connection} ${type} ${name} ${hash}`;

/** Laws 2 and 4 at rest: what a client holds is what generation, begun from nothing, gives for what it asks for. */
export function checkHeld(client: SimClient, connection: string, plane: SimControlPlane, engine: Engine): void {
  const state = plane.world.state;
  const proxy = state.proxies.get(connection);
  demand(proxy !== undefined, () => `${client.name} is connected as ${connection}, and the state does not know it`);
  for (const type of TYPES) {
    const wants = client.wants(type);
    const names = [...(wants ?? [])];
    const subscription = proxy.subscriptions[type];
    const where = `${client.name} (${client.protocol}, ${connection}) ${rulesOf(type).short}`;
    if (wants !== undefined) {
      const known = subscription?.names ?? [];
      demand(
        known.join() === names.join(),
        () => `${where}: subscribed to [${names.join()}], known as [${known.join()}]`,
      );
    }
    if (subscription === undefined) continue;
    if (client.refused.has(type)) continue;
    const fresh = engine.resourcesFor(state, proxy, type, subscription)!;
    const expected = new Map([...fresh.resources].map(([name, { body }]) => [name, hashOfBody(body)]));
    const held = client.holds.get(type)!;
    for (const [name, hash] of expected) {
      const has = held.get(name)?.content.hash;
      demand(has === hash, () => `law 2: ${where}: ${name} ${has === undefined ? 'is missing' : 'is out of date'}`);
    }
    // State of the world cannot say that something is gone, outside wildcard types.
    if (client.protocol === 'sotw' && !rulesOf(type).wildcard) continue;
    // A cluster that is gone stays with a client that has refused the listeners or routes without it: it may still
    // route there.
    if (type === CDS && client.protocol === 'delta' && (client.refused.has(LDS) || client.refused.has(RDS))) continue;
    for (const name of held.keys())
      demand(expected.has(name), () => `law 2: ${where}: ${name} is still held and is gone`);
  }
}

/**
 * Laws 1, 6 and 7, of what is on the platter: the chain is whole, every receipt is reproduced, and snapshots give the
 * same state.
 */
export async function checkJournal(platter: Platter, served: State | undefined): Promise<number> {
  const { journal } = platter.open(
    () => 0,
    () => ({ fails: false }),
  );
  const verdict = await journal.verify();
  demand(verdict.ok, () => `law 7: ${verdict.findings.map(({ message }) => message).join('; ')}`);
  const report = await replay(journal, { verify: true });
  const [difference] = report.differences;
  demand(
    difference === undefined,
    () =>
      `law 1: receipt ${difference?.seq} of state ${difference?.stateSeq} for ${difference?.connection}, ${difference?.typeUrl}, is not reproduced: ${difference?.reproduced}`,
  );
  const [failure] = report.failures;
  demand(failure === undefined, () => `law 8: event ${failure?.seq} could not be folded: ${failure?.message}`);
  const { state } = await foldHistory(journal, { fromSnapshot: true });
  demand(
    stateHash(state) === report.stateHash,
    () => `law 6: the fold from the snapshot differs from the full fold at ${state.seq}`,
  );
  demand(
    served === undefined || stateHash(served) === report.stateHash,
    () => 'law 1: the state served is not the one replayed',
  );
  return report.receipts;
}
