import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { accessLogs } from '../../../../../src/core/select/telemetry/access-logs.ts';
import type { TrafficClass } from '../../../../../src/core/select/telemetry/traffic-class.ts';
import { ask } from '../../../world.ts';
import { type Levels, proxy, withLevels } from './levels.ts';

const MESH: JsonObject = {
  accessLogFile: '/mesh',
  extensionProviders: [
    { name: 'a', envoyFileAccessLog: { path: '/a' } },
    { name: 'B', envoyFileAccessLog: { path: '/b' } },
    { name: 'als', envoyHttpAls: { service: 'nowhere.obs.svc.cluster.local', port: 1 } },
    { name: 'traces', zipkin: { service: 'nowhere.obs.svc.cluster.local', port: 1 } },
  ],
};
const DEFAULT_A = { ...MESH, defaultProviders: { accessLogging: ['a'] } };

/** Paths, and the filter behind a bar. */
function logs(levels: Levels, traffic: TrafficClass = 'outbound', mesh: JsonObject = MESH): readonly string[] {
  return ask(withLevels(levels, mesh), accessLogs, traffic, proxy).map(log => {
    const path = log.kind === 'file' ? log.path : log.kind;
    return log.filter === undefined ? path : `${path}|${log.filter}`;
  });
}

const named = (...names: readonly string[]) => ({ providers: names.map(name => ({ name })) });
const when = (expression: string) => ({ filter: { expression } });
const of = (...accessLogging: readonly JsonObject[]): JsonObject => ({ accessLogging });

/** CPU of the logs with that many providers; the least of some, because collections make single ones longer. */
function costOf(count: number): number {
  const names = Array.from({ length: count }, (_, i) => `p${i}`);
  const mesh = { extensionProviders: names.map(name => ({ name, envoyFileAccessLog: { path: `/${name}` } })) };
  const state = withLevels({ namespace: of(named(...names)) }, mesh);
  const take = (): number => {
    const before = process.cpuUsage();
    expect(ask(state, accessLogs, 'outbound', proxy)).toHaveLength(count);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  return Math.min(take(), take(), take());
}

describe('access logs', () => {
  it('of eight times as many providers cost eight times as much, give or take', () => {
    expect(costOf(8_000)).toBeLessThan(24 * Math.max(costOf(1_000), 2));
  });

  it('are those of the default provider, which no longer counts for a mode once entries exist for the other', () => {
    expect(logs({}, 'inbound', DEFAULT_A)).toEqual(['/a']);
    const client = { match: { mode: 'CLIENT' } };
    expect(logs({ namespace: of(client) }, 'inbound', DEFAULT_A)).toEqual(['/mesh']);
    expect(logs({ namespace: of(client) }, 'outbound', DEFAULT_A)).toEqual(['/a']);
    expect(logs({ namespace: of({ ...client, disabled: true }) }, 'outbound', DEFAULT_A)).toEqual([]);
    expect(logs({ namespace: of({ ...client, disabled: true }) }, 'inbound', DEFAULT_A)).toEqual(['/mesh']);
  });

  it('unite the providers of one object, and a later object that names any replaces them', () => {
    expect(logs({ root: of(named('a'), named('b')) })).toEqual(['/b', '/a']);
    expect(logs({ root: of(named('a')), namespace: of(named('b')) })).toEqual(['/b']);
    expect(logs({ root: of(named('a')), namespace: { metrics: [{}] } })).toEqual(['/a']);
  });

  it('have the filter of the last entry that names their provider, or none', () => {
    expect(logs({ namespace: of({ ...named('a'), ...when('response.code >= 500') }) })).toEqual([
      '/a|response.code >= 500',
    ]);
    expect(logs({ root: of({ ...named('a'), ...when('true') }), namespace: of(named('a')) })).toEqual(['/a']);
    expect(logs({ root: of(named('a')), namespace: of(when('true')) })).toEqual(['/a']);
    expect(logs({ root: of({ ...named('a'), ...when('true') }), namespace: of({}) })).toEqual(['/a|true']);
  });

  it('apply an entry without providers to those of the entry before it, whatever its mode', () => {
    const server = { match: { mode: 'SERVER' } };
    expect(logs({ root: of(named('a')), namespace: of({ ...named('b'), ...server }, { disabled: true }) })).toEqual([
      '/a',
    ]);
  });

  it('are off for a disabled provider, but only if it could log', () => {
    expect(logs({ root: of({ ...named('a'), disabled: true }) })).toEqual([]);
    expect(logs({ root: of({ ...named('a'), disabled: true }), namespace: of({}) })).toEqual(['/a']);
    for (const name of ['als', 'traces', 'unknown'])
      expect(logs({ root: of({ ...named(name), disabled: true }) }), name).toEqual(['/mesh']);
    expect(logs({ root: of({ ...named('a'), disabled: true }, named('als')) })).toEqual([]);
  });

  it('are sorted by the defined names of their providers, which are found in any case', () => {
    expect(logs({ root: of(named('A', 'b')) })).toEqual(['/b', '/a']);
  });
});
