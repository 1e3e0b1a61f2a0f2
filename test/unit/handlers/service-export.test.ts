// ServiceExports: with multi-cluster service discovery they decide what other clusters see of a service's endpoints.
// Rules: spec-events-pushes-protocol §2.4 (K16).

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { servicesOfHost } from '../../../src/core/registry/services.ts';
import { selectAssignment } from '../../../src/core/select/endpoint-assignment.ts';
import { Tracker } from '../../../src/core/track.ts';
import { service, slice } from '../registry/fixtures.ts';
import { inCluster, nodeOf, proxyOf, world } from '../world.ts';
import { deletes, rows, says, serviceKey } from './rows.ts';

const exported: JsonObject = {
  apiVersion: 'multicluster.x-k8s.io/v1alpha1',
  kind: 'ServiceExport',
  metadata: { name: 'web', namespace: 'default' },
};
const told = { ...exported, metadata: { ...(exported.metadata as JsonObject), labels: { a: 'b' } } };
const settings = (more: Readonly<Record<string, string>> = {}) => ({
  settings: { env: { ENABLE_MCS_SERVICE_DISCOVERY: 'true', ...more } },
});
const WEB = serviceKey('web');

describe('asks to look at the endpoints', () => {
  rows([
    ['when one comes', world([service('web')], settings()), says(exported, 'east'), `incremental endpoint ${WEB}`],
    ['when one goes', world([exported], settings()), deletes(exported), `incremental endpoint ${WEB}`],
    ['not when it says something else', world([exported], settings()), says(told), '-'],
    ['not without service discovery', world([service('web')]), says(exported), '-'],
  ]);
});

describe('the endpoints of another cluster', () => {
  const addresses = (exports: readonly JsonObject[], env?: Readonly<Record<string, string>>): readonly string[] => {
    const east = inCluster('east', service('web'), slice('web', [{ ip: '10.2.0.1' }]), ...exports);
    const state = world(
      [service('web'), slice('web', [{ ip: '10.1.0.1' }]), east],
      env === undefined ? {} : settings(env),
    );
    return new Tracker().get(state, proxyOf(nodeOf({})), asked, '');
  };
  const asked = {
    name: 'test/addresses',
    run: (reader: Parameters<typeof selectAssignment>[0]): readonly string[] => {
      const [web] = reader.get(servicesOfHost, 'web.default.svc.cluster.local');
      const question = { clusterName: '', service: web!, port: web!.ports[0]!, dns: false, sniDnat: false };
      const none = { subset: undefined, rule: undefined, policy: undefined };
      return selectAssignment(reader, { ...question, ...none }).endpoints.flatMap(endpoint => endpoint.addresses);
    },
  };

  test('are for everybody without service discovery', () => {
    expect(addresses([])).toEqual(['10.1.0.1', '10.2.0.1']);
  });
  test('are for its own proxies, unless it exports the service', () => {
    expect(addresses([], {})).toEqual(['10.1.0.1']);
    expect(addresses([exported], {})).toEqual(['10.1.0.1', '10.2.0.1']);
  });
  test('are for its own proxies in any case where cluster.local means the cluster', () => {
    expect(addresses([exported], { ENABLE_MCS_CLUSTER_LOCAL: 'true' })).toEqual(['10.1.0.1']);
  });
});
