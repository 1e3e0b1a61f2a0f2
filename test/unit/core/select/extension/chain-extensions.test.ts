// Which extensions a chain has, in which order, and what counts as an extension at all.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { ProxyReader } from '../../../../../src/core/query/reader.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import {
  chainExtensions,
  type ExtensionChain,
  extensionPort,
  extensionPorts,
} from '../../../../../src/core/select/extension/chain-extensions.ts';
import {
  extensionsOfProxy,
  filterNameOf,
  NO_PRIORITY,
  parseFilterName,
} from '../../../../../src/core/select/extension/extensions.ts';
import { ask, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';
import { metadata } from '../../registry/fixtures.ts';

interface Place {
  readonly namespace?: string;
  readonly day?: number;
}
const URL = 'oci://registry.test/auth:1';
const lua = (name: string, spec: JsonObject = {}, place: Place = {}): JsonObject => ({
  apiVersion: 'extensions.istio.io/v1alpha1',
  kind: 'TrafficExtension',
  metadata: metadata(name, place),
  spec: { lua: { inlineCode: 'x' }, ...spec },
});
const wasm = (name: string, spec: JsonObject = {}, code: JsonObject = {}): JsonObject => ({
  ...lua(name),
  spec: { wasm: { url: URL, ...code }, ...spec },
});
const plugin = (name: string, spec: JsonObject = {}, place: Place = {}): JsonObject => ({
  ...lua(name, {}, place),
  kind: 'WasmPlugin',
  spec: { url: URL, ...spec },
});

const all = (...parts: readonly WorldPart[]) => ask(world(parts), extensionsOfProxy, '');
const names = (...parts: readonly WorldPart[]) => all(...parts).map(({ namespace, name }) => `${namespace}/${name}`);
const TRANSLATED = '~istio-translated-wasmplugin';

describe('the extensions of a proxy', () => {
  it('are of its namespace and the root namespace, if they select it', () => {
    const selector = { matchLabels: { app: 'other' } };
    const root = { namespace: 'istio-system' };
    expect(names(lua('a'), lua('r', {}, root), lua('b', {}, { namespace: 'bank' }), lua('s', { selector }))).toEqual([
      'default/a',
      'istio-system/r',
    ]);
  });

  it('stand by priority, then by namespace, then by age, then by name', () => {
    const root = { namespace: 'istio-system' };
    const found = names(
      lua('zero', { priority: 0 }),
      lua('none'),
      lua('negative', { priority: -1 }),
      lua('high', { priority: 9 }),
      lua('root', { priority: 9 }, root),
      lua('late', { priority: 9 }, { day: 2 }),
      plugin('high', { priority: 9 }),
    );
    expect(found).toEqual([
      'default/high',
      `default/high${TRANSLATED}`,
      'default/late',
      'istio-system/root',
      'default/zero',
      'default/negative',
      'default/none',
    ]);
  });

  it('are what Lua and Wasm say, and a WasmPlugin like a TrafficExtension', () => {
    const match = [{ mode: 'CLIENT' }];
    const [own, module, translated] = all(
      lua('a', { phase: 'AUTHN', priority: 3, match }),
      wasm('b', { phase: 'AUTHZ', priority: 2 }, { type: 'NETWORK' }),
      plugin('c', { phase: 'STATS', priority: 1, match, pluginName: 'p' }),
    );
    const same = { namespace: 'default', attachment: {}, resourceVersion: '' };
    expect(own).toEqual({
      ...same,
      name: 'a',
      phase: 'AUTHN',
      priority: 3,
      match,
      code: { kind: 'lua', source: 'x' },
    });
    expect(module).toEqual({
      ...same,
      name: 'b',
      phase: 'AUTHZ',
      priority: 2,
      match: [],
      code: { kind: 'wasm', network: true, config: { url: URL, type: 'NETWORK' } },
    });
    expect(translated).toEqual({
      ...same,
      name: `c${TRANSLATED}`,
      phase: 'STATS',
      priority: 1,
      match,
      code: { kind: 'wasm', network: false, config: { url: URL, pluginName: 'p' } },
    });
  });

  it('without phase and priority have the last of both', () => {
    for (const one of [lua('a'), wasm('a'), plugin('a'), plugin('a', { phase: 'UNSPECIFIED_PHASE' })]) {
      expect(all(one)).toMatchObject([{ phase: 'UNSPECIFIED', priority: NO_PRIORITY, match: [] }]);
    }
  });

  it.each([
    ['\u007f', 1],
    ['\u0080', 2],
    ['\u07ff', 2],
    ['\u0800', 3],
    ['\uffff', 3],
    ['\u{10000}', 4],
  ])('are none with Lua beyond 64 KiB, of which %j takes %i', (character, octets) => {
    const found = (more: string) => {
      const inlineCode = `${'a'.repeat(65_536 - octets)}${character}${more}`;
      return names(lua('a', { lua: { inlineCode } })).length;
    };
    expect(found('')).toBe(1);
    if (octets > 1) expect(found('a')).toBe(0);
  });
});

describe('the extensions of a chain', () => {
  const chain = (more: Partial<ExtensionChain> = {}): ExtensionChain => ({
    kind: 'http',
    traffic: 'inbound',
    port: 0,
    ...more,
  });
  const found = (parts: readonly WorldPart[], more: Partial<ExtensionChain> = {}) => {
    const phases = Object.entries(ask(world(parts), chainExtensions, chain(more)));
    return Object.fromEntries(phases.map(([phase, list]) => [phase, list.map(({ name }) => name).join()]));
  };
  const has = (match: readonly JsonObject[], more: Partial<ExtensionChain> = {}) =>
    found([lua('a', { match })], more).UNSPECIFIED === 'a';

  it('are sorted into phases', () => {
    const parts = ['AUTHN', 'AUTHZ', 'STATS'].map(phase => lua(phase.toLowerCase(), { phase }));
    expect(found([...parts, lua('rest')])).toEqual({
      AUTHN: 'authn',
      AUTHZ: 'authz',
      STATS: 'stats',
      UNSPECIFIED: 'rest',
    });
    expect(found([])).toEqual({ AUTHN: '', AUTHZ: '', STATS: '', UNSPECIFIED: '' });
  });

  it('are modules for the network where no HTTP is spoken, and all others where it is', () => {
    const parts = [lua('lua'), wasm('module'), wasm('network', {}, { type: 'NETWORK' })];
    expect(found(parts).UNSPECIFIED).toBe('lua,module');
    expect(found(parts, { kind: 'network' }).UNSPECIFIED).toBe('network');
  });

  it.each<[string, readonly boolean[]]>([
    ['CLIENT', [false, true, true, false]],
    ['SERVER', [true, false, false, true]],
    ['CLIENT_AND_SERVER', [true, true, true, true]],
  ])('match with the mode %s the classes %j of traffic', (mode, expected) => {
    const classes = ['inbound', 'outbound', 'gateway', 'waypoint Service a/b'] as const;
    expect(classes.map(traffic => has([{ mode }], { traffic }))).toEqual(expected);
    expect(classes.map(traffic => has([{}], { traffic }))).toEqual([true, true, true, true]);
  });

  it('match by any entry, with both the mode and one of the ports', () => {
    const ports = [{ number: 80 }, { number: 81 }];
    expect([80, 81, 82, 0].map(port => has([{ ports }], { port }))).toEqual([true, true, false, false]);
    expect(has([{ mode: 'CLIENT', ports }], { port: 80 })).toBe(false);
    expect(has([{ mode: 'CLIENT' }, { ports }], { port: 80 })).toBe(true);
    expect(has([], { port: 80 })).toBe(true);
  });

  it('of two chains differ by kind, traffic and port', () => {
    const parts = [lua('a', { match: [{ mode: 'CLIENT', ports: [{ number: 80 }] }] })];
    const keys = [chain(), chain({ port: 80 }), chain({ kind: 'network' }), chain({ traffic: 'outbound' })];
    expect(new Set(keys.map(one => chainExtensions.key?.(one))).size).toBe(4);
    expect(found(parts, { traffic: 'outbound', port: 80 }).UNSPECIFIED).toBe('a');
  });
});

describe('the ports that distinguish chains', () => {
  it('are those that extensions name, each once', () => {
    const at = (...numbers: readonly number[]) => ({ match: [{ ports: numbers.map(number => ({ number })) }, {}] });
    expect(ask(world([lua('a', at(80, 81)), plugin('b', at(80))]), extensionPorts, '')).toEqual({ 80: true, 81: true });
    expect(ask(world([lua('a')]), extensionPorts, '')).toEqual({});
  });

  it('count, and no others', () => {
    expect([80, 81, 0].map(port => extensionPort({ 80: true, 0: true }, port))).toEqual([80, 0, 0]);
  });
});

describe('the filter of an extension', () => {
  it('is named by namespace and name, which may have dots', () => {
    const name = filterNameOf({ namespace: 'shop', name: 'a.b' });
    expect(name).toBe('extensions.istio.io/trafficextension/shop.a.b');
    expect(parseFilterName(name)).toEqual({ namespace: 'shop', name: 'a.b' });
  });

  it.each(['shop.a', 'extensions.istio.io/trafficextension/shop', 'x.extensions.istio.io/trafficextension/shop.a'])(
    'is not %s',
    name => {
      expect(parseFilterName(name)).toBeUndefined();
    },
  );
});

describe('extensions that are many', () => {
  it('are asked in blocks whether they are attached, by age', () => {
    const found = (count: number) => {
      const tracker = new Tracker();
      const plugins = Array.from({ length: count }, (_, i) => plugin(`p${1_000 + i}`));
      const extensions = tracker.get(world(plugins), proxyOf(nodeOf()), extensionsOfProxy, '');
      return { names: extensions.map(({ name }) => name), runs: tracker.stats.runs };
    };
    const [few, more] = [found(512), found(1_024)];
    expect(more.names.slice(0, 512)).toEqual(few.names);
    expect(more.names).toHaveLength(1_024);
    expect(more.runs - few.runs).toBe(512 + 1_024 / 128);
  });

  it('have the selectors of one gone through once, for all chains', () => {
    let looks = 0;
    const match = Array.from({ length: 1_000 }, (_, i) => ({ ports: [{ number: 1_000 + i }] }));
    const selectors = new Proxy(match, {
      get: (target, member) => {
        if (member === '0') looks++;
        return Reflect.get(target, member);
      },
    });
    const state = world([lua('a')]);
    const [extension] = ask(state, extensionsOfProxy, '');
    const reader = { get: () => [{ ...extension!, match: selectors }] } as unknown as ProxyReader;
    const fits = (port: number): boolean => {
      const chain = { kind: 'http', traffic: 'inbound', port } as const;
      return chainExtensions.run(reader, chain).UNSPECIFIED.length > 0;
    };
    expect([999, 1_000, 1_500, 1_999, 2_000, 0].map(fits)).toEqual([false, true, true, true, false, false]);
    expect(looks).toBe(1);
  });
});
