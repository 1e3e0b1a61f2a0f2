// Which first requests are refused.

import { expect, it } from 'vitest';
import { arrivalOf, UNLIMITED } from '../../../../src/xds/serve/connect.ts';
import { ambientWorld } from '../../core/select/ambient/fixtures.ts';
import { world } from '../../world.ts';

const node = {
  id: 'ztunnel~10.9.9.9~z.istio-system~istio-system.svc.cluster.local',
  metadata: { NAMESPACE: 'istio-system' },
};

it('a ztunnel is refused unless ambient mode is on', () => {
  expect(arrivalOf(world([]), node, 'delta', UNLIMITED, id => id)).toEqual({
    status: 'UNKNOWN',
    error: 'ztunnel requires PILOT_ENABLE_AMBIENT=true',
  });
  expect(arrivalOf(ambientWorld([]), node, 'delta', UNLIMITED, id => id)).toMatchObject({
    connection: 'z.istio-system',
  });
});

it('a node that lists thousands of addresses is refused', () => {
  const arrival = (count: number) => {
    const INSTANCE_IPS = Array.from({ length: count }, (_, i) => `10.0.${i >> 8}.${i & 255}`).join(',');
    const sidecar = { id: 'sidecar~10.9.9.9~a.b~b.svc.cluster.local', metadata: { NAMESPACE: 'b', INSTANCE_IPS } };
    return arrivalOf(world([]), sidecar, 'delta', UNLIMITED, id => id);
  };
  expect(arrival(1_000)).toMatchObject({ connection: 'a.b' });
  expect(arrival(2_000)).toEqual({
    status: 'RESOURCE_EXHAUSTED',
    error: 'the node lists more than 16 KiB of addresses',
  });
});
