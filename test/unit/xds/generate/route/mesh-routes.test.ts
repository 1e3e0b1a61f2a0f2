// Routes of the Gateway API that are attached to a Service: whose requests they concern.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { httpService, Scene, sidecarNode } from './scene.ts';

const SHOP = 'shop.prod.svc.cluster.local:8080';

function route(namespace: string, parent: string, to: string): JsonObject {
  const parentRefs = [{ group: '', kind: 'Service', name: parent, namespace: 'prod' }];
  const backendRefs = [{ name: to, namespace: 'prod', port: 8080 }];
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'r', namespace },
    spec: { parentRefs, rules: [{ backendRefs }] },
  };
}

function scene(...routes: readonly JsonObject[]): Scene {
  const services = ['shop', 'front'].map((name, i) => httpService(name, 'prod', 8080, `10.96.0.${i + 1}`));
  const made = new Scene([...services, ...routes]);
  for (const namespace of ['prod', 'far']) made.connect(namespace, sidecarNode(namespace));
  return made;
}
const isDefault = (made: Scene, client: string): boolean => made.routes(client, '8080', SHOP)[0]?.name === 'default';

describe('a route of a Service', () => {
  it.each([
    ['prod', { prod: false, far: false }],
    ['far', { prod: true, far: false }],
    ['elsewhere', { prod: true, far: true }],
  ])('in namespace %s leaves the default route to clients %j', (namespace, expected) => {
    const made = scene(route(namespace, 'shop', 'shop'));
    expect({ prod: isDefault(made, 'prod'), far: isDefault(made, 'far') }).toEqual(expected);
  });

  it('that does not exist gives no virtual host', () => {
    const names = (scene(route('prod', 'gone', 'shop')).route('prod', '80').virtualHosts ?? []).map(host => host.name);
    expect(names).toEqual(['allow_any']);
  });
});
