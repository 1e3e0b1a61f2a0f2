// The guide's template for SPIRE: its volume takes the place of the empty one, and the proxy mounts it where the agent
// looks for a socket.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { findContainer, listAt } from '../../../../src/admission/inject/pod.ts';
import { ownConfig, ownValues } from '../../../../src/admission/templates/own.ts';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { configMap, injectedPod, podWith } from './world.ts';

const GUIDE = join(import.meta.dirname, '../../../../docs/guides/other-authorities.md');

it('the template of the guide mounts the socket of SPIRE in place of the empty volume', () => {
  const [, block = ''] = /```yaml\n(\s+sidecarInjectorWebhook:[\s\S]*?)```/.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  const { sidecarInjectorWebhook } = parse(block) as { readonly sidecarInjectorWebhook: { templates: JsonObject } };
  const templates = { ...(ownConfig.templates as JsonObject), ...sidecarInjectorWebhook.templates };
  const values = ownValues({ system: 'istio-system', revision: 'default', cluster: 'Kubernetes', env: {} });
  const installed = configMap(JSON.stringify({ ...ownConfig, templates }), JSON.stringify(values));
  const annotations = { 'inject.istio.io/templates': 'sidecar,spire' };
  const pod = injectedPod(podWith({ annotations }), { objects: [installed] });
  expect(listAt(pod, 'spec', 'volumes').filter(({ name }) => name === 'workload-socket')).toEqual([
    { name: 'workload-socket', csi: { driver: 'csi.spiffe.io', readOnly: true } },
  ]);
  expect(listAt(findContainer(pod, 'istio-proxy') ?? {}, 'volumeMounts')).toContainEqual({
    name: 'workload-socket',
    mountPath: '/var/run/secrets/workload-spiffe-uds',
  });
});
