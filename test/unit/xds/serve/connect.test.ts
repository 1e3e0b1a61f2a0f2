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
