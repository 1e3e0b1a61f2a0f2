// Which rules a delegate gives below a rule of its root, and what each of them says.

import { describe, expect, test } from 'vitest';
import type { HTTPMatchRequest, HTTPRoute, StringMatch } from '../../../../../src/core/schema/istio-types.gen.ts';
import {
  affordable,
  DELEGATED_PAIRS_MAX,
  fullBudget,
  isSpent,
  type MergeBudget,
  mergeDelegate,
} from '../../../../../src/core/select/scope/delegates.ts';

const seconds = (count: number): { seconds: number; nanos: number } => ({ seconds: count, nanos: 0 });

describe('a match of a root and one of its delegate', () => {
  const texts = (value: StringMatch): readonly HTTPMatchRequest[] => [
    { uri: value },
    { scheme: value },
    { method: value },
    { authority: value },
    { headers: { x: value } },
    { withoutHeaders: { x: value } },
    { queryParams: { x: value } },
  ];
  test.each<[StringMatch, StringMatch, boolean]>([
    [{ prefix: '/a' }, { prefix: '/a/b' }, true],
    [{ prefix: '/a' }, { exact: '/a/b' }, true],
    [{ prefix: '/a' }, { exact: '/b' }, false],
    [{ prefix: '/a/b' }, { prefix: '/a' }, false],
    [{ prefix: '/a' }, { regex: '/a.*' }, false],
    [{ prefix: '' }, { prefix: '/a' }, false],
    [{ exact: '/a' }, { exact: '/a' }, true],
    [{ exact: '/a' }, { exact: '/b' }, false],
    [{ exact: '/a' }, { prefix: '/a' }, false],
    [{ exact: '/a' }, { regex: '/a' }, false],
    [{ regex: '.*' }, { prefix: '/a' }, false],
    [{ regex: '.*' }, { regex: '.*' }, false],
  ])('of the texts %j and %j can both hold: %s', (root, leaf, fits) => {
    const pairs = texts(root).map((rootMatch, i) => [rootMatch, texts(leaf)[i]!] as const);
    for (const [rootMatch, leafMatch] of pairs) {
      expect(mergeDelegate({ match: [rootMatch] }, [{ match: [leafMatch] }])).toHaveLength(fits ? 1 : 0);
    }
  });

  test.each<[HTTPMatchRequest, HTTPMatchRequest, boolean]>([
    [{ headers: { x: { exact: '1' } } }, { headers: { y: { exact: '2' } } }, true],
    [{ headers: { x: { exact: '1' } } }, { headers: { y: { exact: '2' }, x: { exact: '2' } } }, false],
    [{ headers: { x: { exact: '1' } } }, {}, true],
    [{}, { headers: { x: { exact: '1' } } }, true],
    [{ headers: { x: { exact: '1' } } }, { withoutHeaders: { x: { exact: '2' } } }, true],
    [{ port: 80 }, { port: 81 }, false],
    [{ port: 80 }, { port: 80 }, true],
    [{ port: 80 }, {}, true],
    [{}, { port: 80 }, true],
    [{ sourceNamespace: 'a' }, {}, false],
    [{ sourceNamespace: 'a' }, { sourceNamespace: 'b' }, false],
    [{ sourceNamespace: 'a' }, { sourceNamespace: 'a' }, true],
    [{}, { sourceNamespace: 'a' }, true],
    [{ ignoreUriCase: true }, {}, false],
    [{ ignoreUriCase: true }, { ignoreUriCase: true }, true],
    [{ sourceLabels: { a: '1' } }, { sourceLabels: { a: '2' } }, false],
    [{ sourceLabels: { a: '1' } }, { sourceLabels: { b: '1', a: '2' } }, false],
    [{ sourceLabels: { a: '1' } }, { sourceLabels: { a: '1', b: '2' } }, true],
    [{ sourceLabels: { a: '1' } }, {}, true],
    [{}, { sourceLabels: { a: '1' } }, true],
    [{ gateways: ['a'] }, { gateways: ['b'] }, false],
    [{ gateways: ['a', 'b'] }, { gateways: ['a'] }, true],
    [{ gateways: ['a', 'b'] }, { gateways: ['a', 'b'] }, true],
    [{ gateways: ['a', 'b'] }, { gateways: ['a', 'c'] }, false],
    [{ gateways: ['a'] }, { gateways: ['a', 'b'] }, false],
    [{ gateways: ['a'] }, { gateways: ['a', 'a'] }, false],
    [{ gateways: ['a'] }, {}, true],
    [{}, { gateways: ['a'] }, true],
  ])('%j and %j can both hold: %s', (root, leaf, fits) => {
    expect(mergeDelegate({ match: [root] }, [{ match: [leaf] }])).toHaveLength(fits ? 1 : 0);
  });

  test('become one match that has what either says, and of both what the delegate says', () => {
    const text = (value: string): StringMatch => ({ prefix: value });
    const root: HTTPMatchRequest = {
      name: 'r',
      uri: text('/a'),
      scheme: text('h'),
      method: text('P'),
      authority: text('a'),
      headers: { both: text('x'), root: text('1') },
      withoutHeaders: { both: text('x'), root: text('1') },
      queryParams: { both: text('x'), root: text('1') },
      sourceLabels: { root: '1' },
      port: 80,
      gateways: ['g', 'h'],
      statPrefix: 'root',
    };
    const leaf: HTTPMatchRequest = {
      name: 'l',
      uri: text('/a/b'),
      scheme: text('https'),
      method: text('POST'),
      authority: text('a.com'),
      headers: { both: text('xy'), leaf: text('2') },
      withoutHeaders: { both: text('xy'), leaf: text('2') },
      queryParams: { both: text('xy'), leaf: text('2') },
      sourceLabels: { leaf: '2' },
      port: 80,
      gateways: ['h'],
      sourceNamespace: 'team',
      statPrefix: 'leaf',
    };
    const united = { both: text('xy'), root: text('1'), leaf: text('2') };
    const maps = { headers: united, withoutHeaders: united, queryParams: united };
    const merge = (one: HTTPMatchRequest, other: HTTPMatchRequest) =>
      mergeDelegate({ match: [one] }, [{ match: [other] }])[0]?.match;
    expect(merge(root, leaf)).toEqual([{ ...leaf, ...maps, name: 'r-l', sourceLabels: { root: '1', leaf: '2' } }]);
    expect(merge(root, {})).toEqual([root]);
    expect(merge(root, { gateways: [] })).toEqual([root]);
    expect(merge({}, leaf)).toEqual([leaf]);
    expect(merge({ sourceNamespace: 'team', ignoreUriCase: true }, { ...leaf, ignoreUriCase: true })).toEqual([
      { ...leaf, ignoreUriCase: true },
    ]);
  });
});

describe('the matches of a rule of a root and of a rule of its delegate', () => {
  const uri = (prefix: string): HTTPMatchRequest => ({ uri: { prefix } });
  const uris = (root: readonly HTTPMatchRequest[] | undefined, leaf: readonly HTTPMatchRequest[] | undefined) =>
    mergeDelegate({ match: root }, [{ match: leaf }]).map(rule => (rule.match ?? []).map(one => one.uri?.prefix));

  test('are combined in the order of the delegate, without the pairs that cannot hold', () => {
    expect(uris([uri('/a'), uri('/b'), uri('/a/b')], [uri('/a/b/c'), uri('/b/c')])).toEqual([
      ['/a/b/c', '/a/b/c', '/b/c'],
    ]);
  });
  test('drop the rule if one of the delegate fits none of the root', () => {
    expect(uris([uri('/a')], [uri('/a/b'), uri('/c')])).toEqual([]);
  });
  test('are those of one if the other has none', () => {
    expect(uris(undefined, [uri('/a')])).toEqual([['/a']]);
    expect(uris([], [uri('/a')])).toEqual([['/a']]);
    expect(uris([uri('/a')], undefined)).toEqual([['/a']]);
    expect(uris(undefined, undefined)).toEqual([[]]);
  });
});

describe('a rule of a delegate', () => {
  const filled = (text: string, count: number): HTTPRoute => ({
    name: text,
    rewrite: { uri: text },
    directResponse: { status: count },
    timeout: seconds(count),
    retries: { attempts: count },
    fault: { abort: { httpStatus: count } },
    mirror: { host: text },
    mirrorPercent: count,
    mirrorPercentage: { value: count },
    corsPolicy: { allowMethods: [text] },
    mirrors: [{ destination: { host: text } }],
    headers: { request: { set: { a: text } } },
  });
  const merge = (root: HTTPRoute, leaf: HTTPRoute): HTTPRoute | undefined => mergeDelegate(root, [leaf])[0];

  test('keeps what it sets, and has the rest from the rule of the root', () => {
    const [root, leaf] = [filled('root', 1), filled('leaf', 2)];
    expect(merge(root, leaf)).toEqual({ ...leaf, match: [], name: 'root-leaf' });
    expect(merge(root, { mirrors: [] })).toEqual({ ...root, match: [] });
    expect(merge({}, leaf)).toEqual({ ...leaf, match: [] });
  });
  test('has its own redirect and destinations or none, and no delegate', () => {
    const root: HTTPRoute = { redirect: { uri: '/' }, route: [{ destination: { host: 'root' } }] };
    const route = [{ destination: { host: 'leaf' } }];
    expect(merge(root, { timeout: seconds(2) })).toEqual({ match: [], timeout: seconds(2) });
    expect(merge(root, { route, delegate: { name: 'next' } })).toEqual({ match: [], route });
  });
});

const pairs = (left: number): MergeBudget => ({ ...fullBudget(), pairs: left });

test('the rules of delegates past the limit of compared matches are left out', () => {
  const matches = (count: number) => Array.from({ length: count }, (): HTTPMatchRequest => ({}));
  const leaf = (count: number): HTTPRoute => ({ match: matches(count) });
  const budget = pairs(12);
  expect(affordable({ match: matches(2) }, [leaf(2), leaf(4), leaf(0)], budget)).toHaveLength(2);
  expect(affordable({}, [leaf(0)], pairs(1))).toHaveLength(1);
  expect(affordable({}, [leaf(0)], pairs(0))).toEqual([]);
  expect(affordable({}, [leaf(0), leaf(3)], pairs(3))).toHaveLength(1);
  expect(affordable({ match: matches(DELEGATED_PAIRS_MAX) }, [leaf(1)], fullBudget())).toHaveLength(1);
  expect(affordable({ match: matches(DELEGATED_PAIRS_MAX) }, [leaf(2)], fullBudget())).toEqual([]);
});

test('the rules of delegates past the limit of matches times destinations are left out', () => {
  const leaf = (matches: number, destinations: number): HTTPRoute => ({
    match: Array.from({ length: matches }, () => ({})),
    route: Array.from({ length: destinations }, () => ({ destination: { host: 'a' } })),
  });
  const budget: MergeBudget = { ...fullBudget(), routeDestinations: 20 };
  expect(affordable({ match: [{}, {}] }, [leaf(2, 3), leaf(0, 4), leaf(1, 1), leaf(0, 0)], budget)).toHaveLength(2);
  expect(isSpent(budget)).toBe(true);
});
