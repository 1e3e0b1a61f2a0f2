import { describe, expect, test } from 'vitest';
import { discovers } from '../../../../src/core/mesh/discovery-selectors.ts';
import { allServices } from '../../../../src/core/registry/services.ts';
import { ask, put, world } from '../../world.ts';
import { namespace, service, serviceEntry } from './fixtures.ts';

const mesh = { discoverySelectors: [{ matchLabels: { mesh: 'on' } }] };

test.each([
  [{ key: 'a', operator: 'In', values: ['1'] }, { a: '1' }, true],
  [{ key: 'a', operator: 'In', values: ['1'] }, {}, false],
  [{ key: 'a', operator: 'NotIn', values: ['1'] }, {}, true],
  [{ key: 'a', operator: 'NotIn', values: ['1'] }, { a: '1' }, false],
  [{ key: 'a', operator: 'Exists' }, { a: '' }, true],
  [{ key: 'a', operator: 'DoesNotExist' }, { a: '' }, false],
  [{ key: 'a', operator: 'Nonsense' }, {}, true],
  [{ key: 'a', operator: 'In' }, {}, true],
  [{ key: 'a', operator: 'Exists', values: ['b'] }, {}, true],
  [{ key: 'a/', operator: 'Exists' }, {}, true],
])('discoverySelectors %j on labels %j: %s', (requirement, labels, expected) => {
  expect(discovers([{ matchExpressions: [requirement] }], labels)).toBe(expected);
});

describe('a namespace that no selector matches', () => {
  const parts = [
    namespace('default'),
    service('web'),
    serviceEntry('ext', { hosts: ['ext.example.com'] }),
    service('system', {}, { namespace: 'istio-system' }),
  ];
  test('is treated as absent, the system namespace too', () => {
    const state = world(parts, { mesh });
    expect(ask(state, allServices, '')).toEqual([]);
  });
  test('appears with all its objects once it is labelled', () => {
    const labelled = put(world(parts, { mesh }), namespace('default', { labels: { mesh: 'on' } }));
    expect(ask(labelled.state, allServices, '').map(s => s.name)).toEqual(['ext.example.com', 'web']);
    expect(labelled.push).toMatchObject({ full: true, forced: true, reasons: { global: 1 } });
  });
});
