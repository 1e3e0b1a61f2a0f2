// Objects that are not parsed until they are read: which of the stored facts are, and what they give.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Event, Unrecorded } from '../../../src/core/event.ts';
import type { UnreadVersion } from '../../../src/core/fold/record.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { added, all, secret } from './helpers.ts';

const VALUE = 'c2VjcmV0LW9mLXRlc3Q=';
const kindsOf = (events: readonly (Event | UnreadVersion)[]): readonly string[] => events.map(({ kind }) => kind);
const objectOf = (fact: Unrecorded): JsonObject => (fact as unknown as { readonly object: JsonObject }).object;

describe('of what is read unparsed', () => {
  it('added and updated objects stay text, and whatever else is parsed', async () => {
    const journal = openMemoryJournal();
    const updated: Unrecorded = { ...added('a'), kind: 'Update' } as Unrecorded;
    const ref = { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'a' };
    await journal.append([added('a'), updated, { source: 'x', kind: 'Delete', ref }, { source: 'x', kind: 'Synced' }]);
    const events = await all(journal.readUnparsed({ from: 1 }));
    expect(kindsOf(events)).toEqual(['Unread', 'Unread', 'Delete', 'Synced']);
    expect(events[1]).toMatchObject({ seq: 2, source: 'file/Kubernetes', ref });
    expect((events[1] as UnreadVersion).object).toEqual(objectOf(updated));
  });

  it('an object whose name is sealed is parsed: its name is not known without', async () => {
    const journal = openMemoryJournal();
    const named = (metadata: JsonObject, kind = 'ConfigMap'): Unrecorded => ({
      source: 'x',
      kind: 'Add',
      object: { apiVersion: 'v1', kind, metadata },
    });
    const odd = 'sealed:v1:x';
    await journal.append([named({ name: odd }), named({ name: 'a', namespace: odd }), named({ name: 'a' }, odd)]);
    const events = await all(journal.readUnparsed({ from: 1 }));
    expect(kindsOf(events)).toEqual(['Add', 'Add', 'Add']);
    expect(events).toMatchObject([
      { object: { metadata: { name: odd } } },
      { object: { metadata: { namespace: odd } } },
      { object: { kind: odd } },
    ]);
  });

  it('an object is the same whenever it is read, with its origin and what is sealed in it', async () => {
    const journal = openMemoryJournal();
    const origin = { file: 'a.yaml', line: 3 };
    await journal.append([{ ...secret('s', { k: VALUE }), origin } as Unrecorded]);
    const [event] = (await all(journal.readUnparsed({ from: 1 }))) as readonly UnreadVersion[];
    expect(event!.origin).toEqual(origin);
    expect(event!.object).toEqual(objectOf(secret('s', { k: VALUE })));
    expect(event!.object).toBe(event!.object);
  });

  it('an object that was carried from another journal gives what it has, too', async () => {
    const journal = openMemoryJournal();
    const [event] = await journal.appendCarried(journal.carriedFrom(journal.toLines([added('a')]), 5));
    expect(event).toMatchObject({ kind: 'Unread', seq: 1, time: 5, source: 'file/Kubernetes' });
    expect((event as UnreadVersion).object).toEqual(objectOf(added('a')));
    expect((event as UnreadVersion).origin).toBeUndefined();
  });
});
