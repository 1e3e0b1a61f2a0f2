// One line of the timeline: what every list of events shows of one.

import type { JsonObject } from '../../core/base/json.ts';
import { eventSummary } from '../../history/event-summary.ts';
import type { StoredEvent } from '../../journal/journal.ts';
import type { EventRow } from './api.ts';
import { eventFacts } from './event-facts.ts';

/** Of an event whose private values are replaced. */
export function rowOf(event: StoredEvent): EventRow {
  const { subject, isObject, manager } = eventFacts(event);
  const { seq, time, kind, source } = event;
  const summary = eventSummary(JSON.parse(event.body) as JsonObject);
  return { seq, time, kind, source, manager, object: isObject ? subject : '', summary };
}
