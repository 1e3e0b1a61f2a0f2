// One analyzer: a pure function of a snapshot that reports messages. registry.ts lists them all.
//
// `name` is what `istioctl analyze -L` prints; `type` is the name of the analyzer's type in Istio's source, where the
// two differ. An analyzer whose kinds the input lacks altogether is not run by default: without a single Pod, every
// selector would be said to select nothing.

import type { Report } from './message.ts';
import type { AnalysisKind, AnalyzedObjects } from './objects.ts';

export interface Analyzer {
  readonly name: string;
  readonly type?: string;
  readonly description: string;
  /** Kinds whose absence from the input makes the answer meaningless; the first is the kind that is checked. */
  readonly needs: readonly AnalysisKind[];
  /** Run only when it is named: too many messages for everyday use. */
  readonly onRequest?: true;
  readonly analyze: (objects: AnalyzedObjects, report: Report) => void;
}
