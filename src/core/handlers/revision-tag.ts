// Revision tags: webhook configurations, and services of the control plane's namespace, say by their labels which
// revision a tag means. Source: Istio pkg/revisions/tag_watcher.go.

import { speaksOfTags } from '../kinds/kubernetes/webhook-configuration.ts';
import type { Obj } from '../model/object.ts';
import { type PushRequest, pushRequest } from '../push-request.ts';
import type { Change } from './change.ts';

export function revisionTagHandler(change: Change): PushRequest | undefined {
  const { before, after } = change;
  if (meaningOf(before) === meaningOf(after)) return undefined;
  return pushRequest(change.seq, 'tag', [], { full: true, forced: true });
}

/** The revision tags that an object declares, as a text; empty if it declares none. */
function meaningOf(obj: Obj | undefined): string {
  if (obj === undefined || !speaksOfTags(obj)) return '';
  return `${obj.labels['istio.io/tag'] ?? ''} ${obj.labels['istio.io/rev'] ?? ''} ${obj.name}`;
}
