// What asks for a push in ambient mode alone: changes that no Envoy is concerned by.

import { describe } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { node, pod, service, slice } from '../registry/fixtures.ts';
import { ambientWorld, namespace, waypoint } from '../select/ambient/fixtures.ts';
import { deletes, rows, says, serviceKey } from './rows.ts';

const captured = pod('p', '10.0.0.1', { annotations: { 'ambient.istio.io/redirection': 'enabled' } });
const dual: JsonObject = { ipFamilies: ['IPv4', 'IPv6'] };
const free = service('web', { selector: {} });
const ofPod = slice('web', [{ ip: '10.0.0.1', pod: 'p' }], { name: 's' });
const ofNone: JsonObject = { ...ofPod, metadata: { name: 's', namespace: 'default' } };
const WEB = serviceKey('web');
const SLICE = 'EndpointSlice/default/s';
const GATEWAY = 'KubernetesGateway/default/w';
const POD = 'incremental ambient Pod/default/p';

describe('in ambient mode a push is requested by', () => {
  rows([
    ['a pod that is captured', ambientWorld([pod('p', '10.0.0.1')]), says(captured), POD],
    ['not by a pod of another cluster', ambientWorld([]), says(captured, 'other'), '-'],
    [
      'the address families of a Service',
      ambientWorld([service('web')]),
      says(service('web', dual)),
      'incremental ambient Service/default/web',
    ],
    [
      'a label of a Namespace',
      ambientWorld([namespace('default')]),
      says(namespace('default', { 'istio.io/use-waypoint': 'w' })),
      'incremental ambient Namespace//default',
    ],
    [
      'the zone of a Node',
      ambientWorld([node('n', 'r', 'a')]),
      says(node('n', 'r', 'b')),
      'incremental ambient Node//n',
    ],
    [
      'not by a slice of pods that their Service selects, but for other proxies',
      ambientWorld([service('web'), pod('p', '10.0.0.1'), pod('q', '10.0.0.2')]),
      says(ofPod),
      `full endpoint ${WEB}`,
    ],
    ['not by a slice of no Service', ambientWorld([pod('p', '10.0.0.1')]), says(ofNone), '-'],
    [
      'a slice with endpoints that are no pods',
      ambientWorld([service('web')]),
      says(slice('web', [{ ip: '10.0.0.1' }], { name: 's' })),
      `full ambient+endpoint ${SLICE} ${WEB}`,
    ],
    [
      'a slice of a Service that selects no pods',
      ambientWorld([free, pod('p', '10.0.0.1')]),
      says(ofPod),
      `full ambient+endpoint ${SLICE} ${WEB}`,
    ],
    [
      'a slice whose Service is not there',
      ambientWorld([pod('p', '10.0.0.1')]),
      says(ofPod),
      `incremental ambient ${SLICE}`,
    ],
    ['a Gateway that becomes a waypoint', ambientWorld([]), says(waypoint('w')), `full ambient+config ${GATEWAY}`],
  ]);
});

describe('without it', () => {
  rows([
    ['a pod that is captured requests none', [pod('p', '10.0.0.1')], says(captured), '-'],
    ['a Gateway requests one when it is added', [], says(waypoint('w')), `full config ${GATEWAY}`],
    ['or deleted', [waypoint('w')], deletes(waypoint('w')), `full config ${GATEWAY}`],
    ['but not for addresses in its status', [waypoint('w', { addresses: [] })], says(waypoint('w')), '-'],
    ['nor do the address families of a Service', [service('web')], says(service('web', dual)), '-'],
  ]);
});
