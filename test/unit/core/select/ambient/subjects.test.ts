// What the policies of a proxy are about.
// Source of the rules: Istio pilot/pkg/model/policyattachment.go (WithServices).

import { describe, expect, it } from 'vitest';
import type { ProxyRecord } from '../../../../../src/core/model/proxy.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { subjectsOf } from '../../../../../src/core/select/ambient/subjects.ts';
import { ask } from '../../../world.ts';
import { shop, sidecarProxy, waypointProxy } from '../../../xds/ambient/mesh.ts';
import { serviceEntry } from '../../registry/fixtures.ts';
import { ambientWorld } from './fixtures.ts';

const subjects: Query<'', readonly string[]> = { name: 'test/subjects', run: subjectsOf };
const parts = [...shop(), serviceEntry('ext', { hosts: ['a.com', 'b.com'] }, { namespace: 'shop' })];
const of = (proxy: ProxyRecord): readonly string[] => ask(ambientWorld(parts), subjects, '', proxy);

describe('the subjects of policies are', () => {
  it('of a waypoint the proxy and each object with services behind it, once', () => {
    expect([...of(waypointProxy())].sort()).toEqual(['', 'Service shop/web', 'ServiceEntry shop/ext']);
  });
  it('of a sidecar the proxy alone, even at the address of a waypoint', () => {
    expect(of(sidecarProxy())).toEqual(['']);
    expect(of(sidecarProxy({ INSTANCE_IPS: '10.1.0.1' }))).toEqual(['']);
  });
});
