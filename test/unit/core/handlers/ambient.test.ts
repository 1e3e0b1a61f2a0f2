// What asks for a push in ambient mode alone: changes that no Envoy is concerned by.

import { describe } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { node, pod, service, slice } from '../registry/fixtures.ts';
import { ambientWorld, namespace } from '../select/ambient/fixtures.ts';
import { rows, says } from './rows.ts';

const captured = pod('p', '10.0.0.1', { annotations: { 'ambient.istio.io/redirection': 'enabled' } });
const dual: JsonObject = { ipFamilies: ['IPv4', 'IPv6'] };
const POD = 'incremental ambient Pod/default/p';

describe('in ambient mode a push is requested by', () => {
  rows([
    ['a pod that is captured', ambientWorld([pod('p', '10.0.0.1')]), says(captured), POD],
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
      'not by a slice of pods that their Service selects',
      ambientWorld([service('web'), pod('p', '10.0.0.1'), pod('q', '10.0.0.2')]),
      says({ ...slice('other', [{ ip: '10.0.0.1', pod: 'p' }]), metadata: { name: 's', namespace: 'default' } }),
      '-',
    ],
  ]);
});

describe('without it', () => {
  rows([
    ['a pod that is captured requests none', [pod('p', '10.0.0.1')], says(captured), '-'],
    ['nor do the address families of a Service', [service('web')], says(service('web', dual)), '-'],
  ]);
});
