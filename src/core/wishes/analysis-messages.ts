// `status.validationMessages` of Istio's objects: what analyzers find about the version that the status names. Off
// unless PILOT_ENABLE_ANALYSIS.
//
// A manager of its own, so that another feature may write other members of the same status. An object whose mistakes
// are mended loses the member. Fixed point: a written status changes no generation and is no input of analysis.
// Source: Istio pkg/config/analysis/incluster/controller.go, pkg/config/analysis/diag/message.go
// (AnalysisMessageBase), pilot/pkg/status/resourcelock.go.

import type { JsonObject } from '../base/json.ts';
import { featureOf } from '../mesh/features.ts';
import type { Settings } from '../mesh/settings.ts';
import type { KindName } from '../model/kind.ts';
import type { Obj } from '../model/object.ts';
import type { Query } from '../query/reader.ts';
import { oneOf } from '../translate/derived.ts';
import { distributedKinds } from './distribution.ts';
import type { Wish } from './wish.ts';

export const ANALYSIS_MANAGER = 'periplus-analysis';
const ELECTION = 'istio-analyze-leader';

/** Argument ''. */
export const analysisMessages: Query<'', readonly Wish[]> = {
  name: 'wishes/analysisMessages',
  run: reader => {
    if (!reader.feature('PILOT_ENABLE_ANALYSIS')) return [];
    const reports = reader.objects('AnalysisReport', `${reader.setting('clusterId')}/`);
    return reports.map(report => oneOf(reader, wishFor(report)));
  },
};

function wishFor({ cluster, namespace, spec }: Obj<'AnalysisReport'>): Wish {
  const { kind, name, generation, messages } = spec;
  const validationMessages: readonly JsonObject[] = messages.map(({ code, level, documentationUrl }) => ({
    ...{ type: { code }, level, documentationUrl },
  }));
  const found: JsonObject = { observedGeneration: generation, validationMessages };
  return {
    ...{ cluster, kind: kind as KindName, namespace, name },
    subresource: 'status',
    manager: ANALYSIS_MANAGER,
    fields: { status: messages.length === 0 ? { validationMessages: null } : found },
    verb: 'merge',
    gate: ELECTION,
    ...(messages.length === 0 ? {} : { precondition: { generation } }),
  };
}

/** No status is kept while the feature is off. */
export const analysisObserves = distributedKinds.map(kind => ({
  kind,
  parts: ['status'],
  names: (settings: Settings) => (featureOf(settings, 'PILOT_ENABLE_ANALYSIS') ? undefined : []),
}));
