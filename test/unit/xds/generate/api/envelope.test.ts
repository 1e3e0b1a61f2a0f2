// What clients of the generator `api` are sent.
// Source of the rules: Istio pilot/pkg/networking/apigen/apigen.go.

import { expect, it } from 'vitest';
import type { Obj } from '../../../../../src/core/model/object.ts';
import { envelope, meshConfigMessage } from '../../../../../src/xds/generate/api/envelope.ts';

it('an object is named by namespace and name, with its age to the millisecond, version, labels and annotations', () => {
  const object: Obj<'ServiceEntry'> = {
    kind: 'ServiceEntry',
    cluster: 'c',
    namespace: 'ns',
    name: 'a',
    labels: { app: 'a' },
    annotations: { note: 'b' },
    creationTime: Date.UTC(2026, 0, 2, 3, 4, 5, 250),
    resourceVersion: '7',
    uid: '',
    spec: { hosts: ['a.example.com'], resolution: 'DNS' },
  };
  const made = envelope.run({ object });
  expect(made).toEqual({
    name: 'ns/a',
    problems: [],
    message: {
      metadata: {
        name: 'ns/a',
        createTime: { seconds: Date.UTC(2026, 0, 2, 3, 4, 5) / 1_000, nanos: 250_000_000 },
        version: '7',
        labels: { app: 'a' },
        annotations: { note: 'b' },
      },
      body: {
        '@type': 'type.googleapis.com/istio.networking.v1alpha3.ServiceEntry',
        value: { hosts: ['a.example.com'], resolution: 'DNS' },
      },
    },
  });
});

it('the mesh configuration is sent as it is, without a name', () => {
  const config = { trustDomain: 'td' };
  expect(meshConfigMessage.run({ config })).toEqual({ name: '', message: config, problems: [] });
});
