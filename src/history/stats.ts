// Writers of a mesh and their cost: events and bytes by kind, source and manager; for each object the number of
// writes, of push requests with Istio's reasons, and of responses after them.

import type { Event } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { mergePushRequests, noPush, type PushRequest } from '../core/push-request.ts';
import type { History } from './history.ts';
import { managerOf, objectOfEvent } from './last-change.ts';

/** Objects that are listed: those with the most responses. */
export const OBJECTS_LISTED_MAX = 20;

export interface Count {
  readonly name: string;
  readonly events: number;
  /** Characters of their JSON. */
  readonly chars: number;
}

export interface ObjectCost {
  /** `Kind/namespace/name` */
  readonly object: string;
  /** Who wrote it; empty names left out. */
  readonly managers: readonly string[];
  readonly events: number;
  /** Events that requested a push. */
  readonly pushes: number;
  /** Istio's reason → events that gave it. */
  readonly reasons: Readonly<Record<string, number>>;
  /**
   * Responses to proxies whose state was the first of their type with a change of the object in it; others may have
   * changed, too.
   */
  readonly responses: number;
}

export interface JournalStats {
  readonly from: number;
  readonly to: number;
  /** ms since the epoch */
  readonly fromTime: number;
  readonly toTime: number;
  readonly kinds: readonly Count[];
  readonly sources: readonly Count[];
  readonly managers: readonly Count[];
  readonly receipts: number;
  readonly responses: number;
  readonly nacks: number;
  readonly objects: readonly ObjectCost[];
  /** Objects that were written and are not listed. */
  readonly unlisted: number;
}

interface Cost {
  readonly managers: Set<string>;
  readonly reasons: Record<string, number>;
  events: number;
  pushes: number;
  responses: number;
}

/** Both ends included. */
export async function statsOf(
  history: History,
  from: number,
  to: number,
  onProgress: (seq: number, to: number) => void = () => undefined,
): Promise<JournalStats> {
  const tally = new Tally();
  let state = await history.at(from - 1);
  const rejected = await history.rejectedAfter(from - 1);
  let [fromTime, toTime] = [0, 0];
  for await (const page of history.events(from, to)) {
    for (const event of page) {
      const folded = fold(state, event, rejected);
      let request: PushRequest = noPush;
      for (const effect of folded.effects)
        if (effect.kind === 'Push') request = mergePushRequests(request, effect.request);
      state = folded.state;
      tally.take(event, request);
      if (fromTime === 0) fromTime = event.time;
      toTime = event.time;
    }
    onProgress(state.seq - from, to - from);
  }
  return { from, to, fromTime, toTime, ...tally.result() };
}

class Tally {
  readonly #kinds = new Map<string, { events: number; chars: number }>();
  readonly #sources = new Map<string, { events: number; chars: number }>();
  readonly #managers = new Map<string, { events: number; chars: number }>();
  readonly #objects = new Map<string, Cost>();
  /** Objects that requested a push, by event, until the receipts of all types have passed it. */
  #waiting: { readonly seq: number; readonly object: string }[] = [];
  /** Type → state of its newest receipt. */
  readonly #sent = new Map<string, number>();
  #receipts = 0;
  #responses = 0;
  #nacks = 0;

  take(event: Event, request: PushRequest): void {
    const { seq: _seq, time: _time, source, kind, ...body } = event;
    const chars = JSON.stringify(body).length;
    add(this.#kinds, kind, chars);
    add(this.#sources, source, chars);
    if (event.kind === 'ProxyNacked') this.#nacks++;
    if (event.kind === 'Receipt') this.#receipt(event);
    const object = objectOfEvent(event);
    if (object === '') return;
    const cost = this.#objects.get(object) ?? { managers: new Set(), reasons: {}, events: 0, pushes: 0, responses: 0 };
    this.#objects.set(object, cost);
    cost.events++;
    const manager = event.kind === 'Add' || event.kind === 'Update' ? managerOf(event.object) : '';
    if (manager !== '') {
      cost.managers.add(manager);
      add(this.#managers, manager, chars);
    }
    if (request === noPush) return;
    cost.pushes++;
    for (const reason of Object.keys(request.reasons)) cost.reasons[reason] = (cost.reasons[reason] ?? 0) + 1;
    this.#waiting.push({ seq: event.seq, object });
  }

  #receipt({ typeUrl, stateSeq, connections }: Event & { readonly kind: 'Receipt' }): void {
    this.#receipts++;
    this.#responses += connections.length;
    const before = this.#sent.get(typeUrl) ?? 0;
    this.#sent.set(typeUrl, Math.max(before, stateSeq));
    const fresh = this.#waiting.filter(({ seq }) => seq <= stateSeq && seq > before);
    for (const object of new Set(fresh.map(one => one.object)))
      this.#objects.get(object)!.responses += connections.length;
    const oldest = Math.min(...this.#sent.values());
    this.#waiting = this.#waiting.filter(({ seq }) => seq > oldest);
  }

  result(): Omit<JournalStats, 'from' | 'to' | 'fromTime' | 'toTime'> {
    const costs = [...this.#objects].map(
      ([object, { managers, ...cost }]): ObjectCost => ({
        object,
        managers: [...managers].sort(),
        ...cost,
      }),
    );
    costs.sort(
      (a, b) =>
        b.responses - a.responses || b.pushes - a.pushes || b.events - a.events || (a.object < b.object ? -1 : 1),
    );
    return {
      kinds: sorted(this.#kinds),
      sources: sorted(this.#sources),
      managers: sorted(this.#managers),
      receipts: this.#receipts,
      responses: this.#responses,
      nacks: this.#nacks,
      objects: costs.slice(0, OBJECTS_LISTED_MAX),
      unlisted: Math.max(0, costs.length - OBJECTS_LISTED_MAX),
    };
  }
}

function add(counts: Map<string, { events: number; chars: number }>, name: string, chars: number): void {
  const known = counts.get(name) ?? { events: 0, chars: 0 };
  known.events++;
  known.chars += chars;
  counts.set(name, known);
}

function sorted(counts: ReadonlyMap<string, { readonly events: number; readonly chars: number }>): readonly Count[] {
  return [...counts]
    .map(([name, { events, chars }]) => ({ name, events, chars }))
    .sort((a, b) => b.events - a.events || (a.name < b.name ? -1 : 1));
}
