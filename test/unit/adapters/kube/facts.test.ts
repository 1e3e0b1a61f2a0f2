import { describe, expect, it } from 'vitest';
import { factOf, objectOf } from '../../../../src/adapters/kube/facts.ts';
import { heardOf } from '../../../../src/adapters/kube/heard.ts';
import { resourceOf } from '../../../../src/adapters/kube/resource.ts';
import { definitions } from '../../../../src/core/kinds/registry.ts';

const services = resourceOf(definitions.Service, 'v1', 'services');
const entry = (manager: string, time: string, subresource?: string) => ({
  manager,
  operation: 'Update',
  time,
  fieldsV1: { 'f:spec': {} },
  ...(subresource === undefined ? {} : { subresource }),
});

describe('facts of Kubernetes objects', () => {
  it('keep the projection of the kind, with the apiVersion and kind that list items omit', () => {
    const item = {
      metadata: { name: 'a', namespace: 'n', resourceVersion: '7', annotations: { 'example.com/x': '1' } },
      spec: { ports: [{ port: 80 }], sessionAffinity: 'None' },
    };
    expect(objectOf(services, item)).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a', namespace: 'n' },
      spec: { ports: [{ port: 80 }] },
    });
  });

  it('record who wrote last and when, but not the managed fields', () => {
    const managedFields = [
      entry('kubectl', '2026-01-01T00:00:02Z'),
      entry('kubelet', '2026-01-01T00:00:02Z', 'status'),
      entry('helm', '2026-01-01T00:00:01Z'),
    ];
    const { metadata } = objectOf(services, { metadata: { name: 'a', managedFields } });
    expect((metadata as { managedFields: unknown }).managedFields).toEqual([
      { manager: 'kubectl', operation: 'Update', time: '2026-01-01T00:00:02Z' },
    ]);
  });

  it('name the object of a deletion, and refuse an event without a name', () => {
    const object = { metadata: { name: 'a', namespace: 'n' } };
    expect(factOf(services, { type: 'DELETED', object, resourceVersion: '8' })).toEqual({
      kind: 'Delete',
      ref: { apiVersion: 'v1', kind: 'Service', namespace: 'n', name: 'a' },
    });
    expect(factOf(services, { type: 'ADDED', object: {}, resourceVersion: '' })).toBeUndefined();
  });
});

describe('lines of a watch', () => {
  it('keep the message and retry delay of an error', () => {
    const status = { code: 429, message: 'busy', details: { retryAfterSeconds: 3 } };
    expect(heardOf(JSON.stringify({ type: 'ERROR', object: status }))).toEqual({
      kind: 'error',
      failure: { status: 429, message: 'busy', retryAfterMs: 3_000 },
    });
    const old = { code: 500, reason: 'Expired' };
    expect(heardOf(JSON.stringify({ type: 'ERROR', object: old }))).toMatchObject({ failure: { status: 410 } });
  });

  it.each(['', '{', '[]', 'null', '{"type":"ADDED"}', '{"type":"WHAT","object":{}}'])(
    'are errors if malformed: %s',
    line => {
      expect(heardOf(line)).toMatchObject({ kind: 'error', failure: { status: 0 } });
    },
  );
});
