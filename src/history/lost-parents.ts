// Routes of the Gateway API that a change detaches: attached to a parent before, and not after. The differences of
// proxies show virtual hosts that go; this names the route and why.

import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { attachments, routeFindings } from '../core/wishes/gateway-api/findings.ts';

export interface LostParent {
  /** Its name alone. */
  readonly route: string;
  readonly message: string;
}

/** One for each route and parent; routes that the change removes are no loss. */
export function lostParents(tracker: Tracker, before: State, after: State): readonly LostParent[] {
  const old = tracker.get(before, undefined, attachments, '');
  const now = tracker.get(after, undefined, attachments, '');
  const findings = tracker.get(after, undefined, routeFindings, '');
  const warnings: LostParent[] = [];
  for (const [route, parents] of old) {
    const kept = now.get(route);
    for (const parent of kept === undefined ? [] : parents.filter(one => !kept.includes(one))) {
      const reason = findings.find(
        ({ kind, key, message }) => `${kind} ${key}` === route && message.startsWith(`is not attached to ${parent}:`),
      );
      const why = reason === undefined ? '' : reason.message.slice(reason.message.indexOf(':'));
      warnings.push({
        route: route.slice(route.lastIndexOf('/') + 1),
        message: `${route} loses its parent ${parent}${why}`,
      });
    }
  }
  return warnings;
}
