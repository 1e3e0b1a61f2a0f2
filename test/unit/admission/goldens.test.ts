// Golden results of the templates of this project: whole pods and objects, to be read in a review when they change.
// Renew them with PERIPLUS_UPDATE_GOLDENS=1.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { gatewayObjects } from '../../../src/admission/wishes/gateway-deployments.ts';
import type { Json } from '../../../src/core/base/json.ts';
import { Tracker } from '../../../src/core/query/tracker.ts';
import { injectedPod, node, podWith, stateWith } from './inject/world.ts';

const FOLDER = join(import.meta.dirname, 'golden');

function expectGolden(name: string, value: Json): void {
  const file = join(FOLDER, `${name}.yaml`);
  const text = stringify(value, { sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false });
  if (process.env.PERIPLUS_UPDATE_GOLDENS === '1' || !existsSync(file)) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
}

describe('The result of', () => {
  it('the template sidecar, as an init container, is the golden one', () => {
    expectGolden('sidecar-native', injectedPod(podWith(), { objects: [node('a', 'v1.33.0')] }));
  });

  it('the template sidecar, as a container with TPROXY and metadata, is the golden one', () => {
    const annotations = {
      'sidecar.istio.io/interceptionMode': 'TPROXY',
      'proxy.istio.io/config': 'proxyMetadata: {A: b}',
    };
    expectGolden('sidecar-tproxy', injectedPod(podWith({ annotations }), { env: { ENABLE_NATIVE_SIDECARS: 'false' } }));
  });

  it.each(['gateway', 'grpc-agent', 'grpc-simple'])('the template %s is the golden one', name => {
    expectGolden(name, injectedPod(podWith({ annotations: { 'inject.istio.io/templates': name } })));
  });

  it('the template kube-gateway is the golden one', () => {
    const gateway = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'edge', namespace: 'shop', uid: 'u-1', labels: { 'topology.istio.io/network': 'n1' } },
      spec: { gatewayClassName: 'istio', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    };
    const found = new Tracker().get(stateWith({ objects: [gateway] }), undefined, gatewayObjects, 'shop/edge');
    expectGolden('kube-gateway', found._tag === 'Right' ? found.right : found.left);
  });
});
