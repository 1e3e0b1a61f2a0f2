// When one EndpointSlice is compared alone, and when the whole service has to be: alone is what makes a service of a
// thousand slices affordable; the whole is what is right wherever another slice may have what this one loses or gets.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { compareStates } from '../../../../src/core/handlers/comparison.ts';
import { sliceRequest } from '../../../../src/core/handlers/slice-change.ts';
import { inCluster, put, remove, type WorldPart, world } from '../../world.ts';
import { pod, service, slice } from '../registry/fixtures.ts';
import { withMeta } from './rows.ts';

const KEY = 'Kubernetes/default/web-slice';
const web = service('web');
const of = (name: string, ...endpoints: Parameters<typeof slice>[1]): JsonObject => slice('web', endpoints, { name });
const one = slice('web', [{ ip: '10.0.0.1' }]);
const two = slice('web', [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]);
const other = of('web-z', { ip: '10.0.0.9' });
const empty = (...names: readonly string[]): readonly JsonObject[] => names.map(name => of(`web-${name}`));

/** `alone`, `nothing` (alone, without a push) or `whole`. */
function compared(given: readonly WorldPart[], to: JsonObject | undefined): string {
  const before = world(given);
  const { state: after } = to === undefined ? remove(before, one) : put(before, to);
  const change = {
    seq: after.seq,
    kind: 'EndpointSlice' as const,
    key: KEY,
    before: before.objects.EndpointSlice.get(KEY),
    after: after.objects.EndpointSlice.get(KEY),
  };
  const request = sliceRequest(compareStates(after.seq, before, after), after, change);
  return request === undefined ? 'whole' : request.causes.count === 0 ? 'nothing' : 'alone';
}

describe('an EndpointSlice is compared', () => {
  const account = (name: string): JsonObject => pod('p', '10.0.0.2', { account: name });
  const q = pod('q', '10.0.0.9', { account: 'a' });
  const withP = slice('web', [{ ip: '10.0.0.1' }, { ip: '10.0.0.2', pod: 'p' }]);
  const ofQ = of('web-z', { ip: '10.0.0.9', pod: 'q' });
  const relabelled = (labels: JsonObject): JsonObject => withMeta(one, { labels });
  it.each([
    ['alone', 'for one endpoint more beside a slice with others', [web, other, one], two],
    ['alone', 'for one endpoint less beside a slice with others', [web, other, two], one],
    ['alone', 'when it is new beside a slice with others', [web, other], one],
    ['alone', 'when it goes and another one stays', [web, other, one], undefined],
    ['nothing', 'for endpoints as before', [web, other, one], withMeta(one, { annotations: { a: 'b' } })],
    ['whole', 'when it is the only one', [web, one], two],
    [
      'whole',
      'when the others are of another service',
      [web, service('db'), slice('db', [{ ip: '10.0.1.1' }]), one],
      two,
    ],
    ['whole', 'when the others have no endpoints', [web, ...empty('a', 'b'), one], two],
    ['alone', 'when one of the first four others has endpoints', [web, ...empty('a', 'b'), other, one], two],
    ['whole', 'when none of the first four others has', [web, ...empty('a', 'b', 'c', 'd', 'e'), other, one], two],
    [
      'whole',
      'when the others have addresses of a type that has no meaning',
      [web, { ...of('web-a', { ip: '10.0.0.9' }), addressType: 'FQDN' }, one],
      two,
    ],
    [
      'whole',
      'when it moves to another service',
      [web, service('db'), other, one],
      relabelled({ 'kubernetes.io/service-name': 'db' }),
    ],
    ['whole', 'when it leaves its service', [web, other, one], relabelled({})],
    ['whole', 'when its service is not there', [other, one], two],
    ['whole', 'when its service is there in another cluster alone', [inCluster('remote', web), other, one], two],
    ['whole', 'when its service has no selector', [service('web', { selector: {} }), other, one], two],
    ['whole', 'for an account that the other one has not', [web, account('new'), other, one], withP],
    ['whole', 'for a lost account that the other one has not', [web, account('new'), other, withP], one],
    ['alone', 'for an account that the other one has', [web, account('a'), q, ofQ, one], withP],
    [
      'alone',
      'for an account that it has as before',
      [web, account('new'), other, withP],
      slice('web', [{ ip: '10.0.0.3' }, { ip: '10.0.0.2', pod: 'p' }]),
    ],
    ['whole', 'for an address that another one has', [web, of('web-z', { ip: '10.0.0.2' }), one], two],
    ['whole', 'for an address that another one keeps', [web, of('web-z', { ip: '10.0.0.2' }), two], one],
    [
      'whole',
      'for one pod of several that another one has',
      [
        web,
        account('default'),
        pod('r', '10.0.0.7'),
        of('web-z', { ip: '10.0.0.9' }, { ip: '10.0.0.2', pod: 'p' }),
        one,
      ],
      slice('web', [
        { ip: '10.0.0.7', pod: 'r' },
        { ip: '10.0.0.2', pod: 'p' },
      ]),
    ],
  ] as const)('%s %s', (expected, _, given, to) => {
    expect(compared(given as readonly WorldPart[], to)).toBe(expected);
  });
});
