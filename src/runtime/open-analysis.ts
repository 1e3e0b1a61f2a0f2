// The analysis whose messages become statuses, put together for a process. Only with an API server that is written to.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Adapter } from '../adapters/adapter.ts';
import { AnalysisSource } from '../adapters/analysis/analysis-source.ts';
import { StatusAnalysis } from '../offline/status-analysis.ts';
import type { AdapterOptions } from './adapters.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** None where nothing is written. A replica that leads again needs a new one: an adapter starts once. */
export function openAnalysis(
  { kube, writes, settings }: Pick<AdapterOptions, 'kube' | 'settings' | 'writes'>,
  clock: Clock,
  log: Log,
): readonly Adapter[] {
  if (kube === undefined || writes === undefined) return [];
  const made = new StatusAnalysis();
  const { after } = clock;
  return [
    new AnalysisSource({
      ...{ settings, after, log, now: () => clock.now() },
      analysis: {
        inputs: state => made.inputs(state),
        run: state => made.run(state, clock.now(), () => nextTurn()),
      },
    }),
  ];
}
