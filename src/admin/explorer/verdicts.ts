// Which versions of objects are refused: the timeline marks them. A verdict depends on the version alone, so no state
// is folded for it: versions are judged as they lie in the journal, from the newest to the oldest, once indexed.
//
// Invariant: versions of events `from`…`to` of `state()` are judged, without a gap. What Kubernetes itself writes all
// the time is accepted unread, and so are Secrets, whose values are sealed here.

import { isObject, type JsonObject } from '../../core/base/json.ts';
import type { judge } from '../../core/fold/record.ts';
import type { definitionOf } from '../../core/kinds/registry.ts';
import type { StoredEvent } from '../../journal/journal.ts';
import { objectRefIn } from '../../journal/object-ref.ts';
import { bodyOf } from '../../journal/stored-body.ts';
import type { IndexState } from './api.ts';
import type { EventIndex } from './event-index.ts';

/** Events read in one slice. */
const SLICE_EVENTS = 1_000;
/** Refused versions that are kept; the oldest of a longer list are not marked. */
export const REFUSED_MAX = 100_000;

const UNREAD: ReadonlySet<string> = new Set(['Pod', 'EndpointSlice', 'Endpoints', 'Node', 'Secret', 'ConfigMap']);

interface Rules {
  readonly judge: typeof judge;
  readonly definitionOf: typeof definitionOf;
}

export class Verdicts {
  readonly #index: EventIndex;
  /** Loaded once the timeline is there: the rules of all kinds are most of the program. */
  #rules: Rules | undefined;
  readonly #refused = new Set<number>();
  #from: number;
  #to: number;

  constructor(index: EventIndex) {
    this.#index = index;
    const { to } = index.state();
    this.#from = to + 1;
    this.#to = to;
  }

  state(): IndexState {
    const index = this.#index.state();
    return { from: this.#from, to: this.#to, complete: index.complete && this.#from <= index.from };
  }

  has(seq: number): boolean {
    return this.#refused.has(seq);
  }

  /** Judges what came since, if anything was judged yet. */
  async catchUp(): Promise<void> {
    const { to } = this.#index.state();
    if (this.#rules === undefined || this.#to >= to) return;
    const from = this.#to + 1;
    this.#to = to;
    await this.#judge(this.#rules, from, to);
  }

  /** Judges one slice of older events. False: there are none. */
  async deepen(): Promise<boolean> {
    this.#rules ??= await rules();
    const { from: floor } = this.#index.state();
    const to = this.#from - 1;
    if (to < floor) return false;
    const from = Math.max(floor, to - SLICE_EVENTS + 1);
    await this.#judge(this.#rules, from, to);
    this.#from = from;
    return from > floor;
  }

  async #judge({ judge, definitionOf }: Rules, from: number, to: number): Promise<void> {
    for await (const page of this.#index.journal.records({ from, to })) {
      for (const event of page) {
        const object = objectToJudge(event);
        const definition = object && definitionOf(object.apiVersion, object.kind);
        if (object === undefined || definition === undefined) continue;
        const { outcome } = judge(definition, { source: event.source, seq: event.seq, object });
        if (outcome !== 'accepted' && this.#refused.size < REFUSED_MAX) this.#refused.add(event.seq);
      }
    }
  }
}

async function rules(): Promise<Rules> {
  const [{ judge }, { definitionOf }] = await Promise.all([
    import('../../core/fold/record.ts'),
    import('../../core/kinds/registry.ts'),
  ]);
  return { judge, definitionOf };
}

function objectToJudge(event: StoredEvent): JsonObject | undefined {
  const { kind, body } = event;
  if (kind !== 'Add' && kind !== 'Update') return undefined;
  const named = objectRefIn(body);
  if (named !== undefined && UNREAD.has(named.kind)) return undefined;
  const { object } = bodyOf(event);
  return isObject(object) && !UNREAD.has(String(object.kind)) ? object : undefined;
}
