// Messages that several resources share, or one resource repeats, are encoded once; after that their bytes are copied.

import type { WrittenSpan } from './sink.ts';
import type { WriteElement } from './write-field.ts';

/** Recently written messages of one field that are recognised when they come again. */
const RECENT_MAX = 16;

/**
 * Encodes each message object once and copies its bytes after that. Keeping bytes costs about as much as writing them,
 * and most objects come only once; so they are kept when the object comes a second time, or at once if it is an element
 * of a long list of which a few may change. Within the resource of the first time, the bytes are copied from the sink
 * itself.
 */
export function copyingRepeats(write: WriteElement): WriteElement {
  const known = new WeakMap<object, Buffer>();
  const recent = new RecentMessages();
  return (sink, value, ofMany) => {
    const bytes = known.get(value as object);
    if (bytes !== undefined) {
      sink.raw(bytes);
      return;
    }
    const met = recent.find(value);
    if (met?.pass === sink.pass) {
      sink.copySpan(met);
      return;
    }
    const start = sink.at;
    write(sink, value, false);
    if (ofMany || met !== undefined) known.set(value as object, sink.copy(start));
    else recent.add(sink.markSpan(value, start));
  };
}

/**
 * The last RECENT_MAX messages of a field and where they were written. A ring: a linear search over it is cheaper than
 * a map.
 */
class RecentMessages {
  readonly #values: unknown[] = [];
  readonly #marks: WrittenSpan[] = [];
  #next = 0;

  find(value: unknown): WrittenSpan | undefined {
    const at = this.#values.indexOf(value);
    return at < 0 ? undefined : this.#marks[at];
  }

  add(mark: WrittenSpan): void {
    const at = this.#next++ % RECENT_MAX;
    this.#values[at] = mark.value;
    this.#marks[at] = mark;
  }
}
