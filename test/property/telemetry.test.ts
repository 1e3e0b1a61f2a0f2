// Metrics and access logs of arbitrary Telemetries at all levels agree with a model of another kind: it never merges,
// it asks of each metric, tag and provider which entry had the last word.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { accessLogs } from '../../src/core/select/telemetry/access-logs.ts';
import { stats } from '../../src/core/select/telemetry/metrics.ts';
import type { TrafficClass } from '../../src/core/select/telemetry/traffic-class.ts';
import { proxy, withLevels } from '../unit/core/select/telemetry/levels.ts';
import { ask } from '../unit/world.ts';
import { parameters } from './seed.ts';

const METRICS: Readonly<Record<string, string>> = { REQUEST_COUNT: 'requests_total', REQUEST_SIZE: 'request_bytes' };
const REPORTERS = ['prometheus', 'second'];
const LOGS = ['a', 'b'];
const MESH = (defaults: JsonObject): JsonObject => ({
  accessLogFile: '/mesh',
  defaultProviders: defaults,
  extensionProviders: [
    { name: 'second', prometheus: {} },
    ...LOGS.map(name => ({ name, envoyFileAccessLog: { path: `/${name}` } })),
  ],
});

interface Entry {
  readonly providers?: readonly { readonly name: string }[];
  readonly mode: string | undefined;
}

const names = fc.constantFrom('prometheus', 'second', 'a', 'b', 'unknown');
const providers = fc.option(
  fc.uniqueArray(
    names.map(name => ({ name })),
    { maxLength: 2, selector: ({ name }) => name },
  ),
  {
    nil: undefined,
  },
);
const mode = fc.constantFrom(undefined, 'CLIENT', 'SERVER', 'CLIENT_AND_SERVER');
const traffic = fc.constantFrom<TrafficClass>('inbound', 'outbound', 'gateway');
const defaults = fc.uniqueArray(fc.constantFrom(...REPORTERS, ...LOGS), { maxLength: 2 });
const disabled = fc.constantFrom(undefined, true, false);

/** Root, namespace and two of the workload, oldest first; some are not there. */
const levelsOf = <T>(entry: fc.Arbitrary<T>): fc.Arbitrary<readonly (readonly T[])[]> =>
  fc.array(fc.array(entry, { maxLength: 3 }), { minLength: 4, maxLength: 4 });

function placed(member: string, levels: readonly (readonly JsonObject[])[]) {
  const [root = [], namespace = [], ...workload] = levels.map(entries => ({ [member]: entries }));
  return { root: root as JsonObject, namespace: namespace as JsonObject, workload };
}

const fits = (wanted: string | undefined, of: TrafficClass): boolean =>
  wanted === undefined || wanted === 'CLIENT_AND_SERVER' || wanted === (of === 'inbound' ? 'SERVER' : 'CLIENT');

/** The providers that an entry is about: its own, else those of the nearest entry before it that names any. */
function about(entries: readonly Entry[], at: number, given: readonly string[]): readonly string[] {
  const naming = entries.slice(0, at + 1).findLast(one => (one.providers ?? []).length > 0);
  return naming?.providers?.map(({ name }) => name) ?? given;
}

interface MetricsEntry {
  readonly providers?: readonly { readonly name: string }[];
  readonly overrides: readonly Override[];
}
interface Override {
  readonly mode: string | undefined;
  readonly metric: string | undefined;
  readonly disabled: boolean | undefined;
  /** Empty: the tag is removed. */
  readonly tag: string | undefined;
}

const metricsEntry: fc.Arbitrary<MetricsEntry> = fc
  .record({
    providers,
    overrides: fc.array(
      fc.record({
        mode,
        metric: fc.constantFrom(undefined, 'ALL_METRICS', 'REQUEST_COUNT', 'REQUEST_SIZE'),
        disabled,
        tag: fc.constantFrom(undefined, '', 'x', 'y'),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ providers: given, overrides }) => ({ ...(given === undefined ? {} : { providers: given }), overrides }));

function metricsJson({ overrides, ...rest }: MetricsEntry): JsonObject {
  return {
    ...rest,
    overrides: overrides.map(({ mode: of, metric, disabled: off, tag }) => ({
      match: { ...(of === undefined ? {} : { mode: of }), ...(metric === undefined ? {} : { metric }) },
      ...(off === undefined ? {} : { disabled: off }),
      ...(tag === undefined ? {} : { tagOverrides: { t: tag === '' ? { operation: 'REMOVE' } : { value: tag } } }),
    })),
  } as unknown as JsonObject;
}

const isAll = ({ metric }: Override): boolean => metric === undefined || metric === 'ALL_METRICS';

/** One text for each filter. */
function expectedStats(
  entries: readonly MetricsEntry[],
  given: readonly string[],
  of: TrafficClass,
): readonly string[] {
  const naming = entries.findLast(one => (one.providers ?? []).length > 0);
  const scope = [...new Set(naming?.providers?.map(({ name }) => name) ?? given)].sort();
  return scope
    .filter(name => REPORTERS.includes(name))
    .flatMap(name => {
      const counting = entries.flatMap((entry, i) =>
        about(entries as unknown as readonly Entry[], i, given).includes(name)
          ? entry.overrides.filter(one => fits(one.mode, of))
          : [],
      );
      const isSwitch = (one: Override): boolean => isAll(one) && one.disabled === true;
      const last = counting.at(-1);
      if (last !== undefined && isSwitch(last)) return [];
      const ofMetrics = Object.entries(METRICS).map(([metric, shown]) => {
        const touching = counting.filter(one => !isSwitch(one) && (isAll(one) || one.metric === metric));
        if (touching.length === 0) return '';
        const drop = touching.findLast(one => one.disabled !== undefined)?.disabled === true;
        const tag = touching.findLast(one => one.tag !== undefined)?.tag;
        return `${shown} ${drop} ${tag === undefined ? '' : tag === '' ? '-t' : `t=${tag}`}`;
      });
      return [ofMetrics.filter(text => text !== '').join('; ')];
    });
}

interface LogEntry extends Entry {
  readonly disabled: boolean | undefined;
  readonly filter: string | undefined;
}

const logEntry: fc.Arbitrary<LogEntry> = fc
  .record({ providers, mode, disabled, filter: fc.constantFrom(undefined, 'true', 'false') })
  .map(({ providers: given, ...rest }) => ({ ...(given === undefined ? {} : { providers: given }), ...rest }));

function logJson({ mode: of, disabled: off, filter, ...rest }: LogEntry): JsonObject {
  return {
    ...rest,
    ...(of === undefined ? {} : { match: { mode: of } }),
    ...(off === undefined ? {} : { disabled: off }),
    ...(filter === undefined ? {} : { filter: { expression: filter } }),
  } as unknown as JsonObject;
}

function expectedLogs(
  levels: readonly (readonly LogEntry[])[],
  given: readonly string[],
  of: TrafficClass,
): readonly string[] {
  const entries = levels.flat();
  const named = (entry: Entry): readonly string[] => (entry.providers ?? []).map(({ name }) => name);
  const fitting = levels.map(level => level.filter(entry => fits(entry.mode, of)));
  const scope = fitting.map(level => level.flatMap(named)).findLast(all => all.length > 0) ?? given;
  const lastWord = (name: string): LogEntry | undefined =>
    entries.findLast((entry, i) => fits(entry.mode, of) && about(entries, i, given).includes(name));
  const present = LOGS.filter(name =>
    entries.length === 0 ? given.includes(name) : scope.includes(name) && lastWord(name) !== undefined,
  );
  if (present.length === 0) return ['/mesh'];
  return present
    .filter(name => lastWord(name)?.disabled !== true)
    .map(name => {
      const filter = fitting.flat().findLast(entry => named(entry).includes(name))?.filter;
      return `/${name}${filter === undefined ? '' : ` ${filter}`}`;
    });
}

describe('arbitrary Telemetries', () => {
  it('give the metrics that the last words of their entries say', () => {
    fc.assert(
      fc.property(levelsOf(metricsEntry), defaults, traffic, (levels, given, of) => {
        const state = withLevels(
          placed(
            'metrics',
            levels.map(level => level.map(metricsJson)),
          ),
          MESH({ metrics: given }),
        );
        const found = ask(state, stats, of, proxy).map(({ overrides }) =>
          overrides
            .filter(({ name }) => Object.values(METRICS).includes(name))
            .sort((a, b) => (a.name === 'requests_total' ? -1 : b.name === 'requests_total' ? 1 : 0))
            .map(({ name, drop, dimensions, tagsToRemove }) => {
              const tag = dimensions?.t === undefined ? (tagsToRemove.length > 0 ? '-t' : '') : `t=${dimensions.t}`;
              return `${name} ${drop} ${tag}`;
            })
            .join('; '),
        );
        expect(found).toEqual(expectedStats(levels.flat(), given, of));
      }),
      parameters(200),
    );
  });

  it('give the access logs that the last words of their entries say', () => {
    fc.assert(
      fc.property(levelsOf(logEntry), defaults, traffic, (levels, given, of) => {
        const state = withLevels(
          placed(
            'accessLogging',
            levels.map(level => level.map(logJson)),
          ),
          MESH({ accessLogging: given }),
        );
        const found = ask(state, accessLogs, of, proxy).map(log =>
          log.kind === 'file' ? `${log.path}${log.filter === undefined ? '' : ` ${log.filter}`}` : log.kind,
        );
        const present = levels.filter(level => level.length > 0);
        expect(found).toEqual(expectedLogs(present, given, of));
      }),
      parameters(200),
    );
  });
});
