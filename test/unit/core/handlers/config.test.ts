// configHandler. Source: Istio pilot/pkg/bootstrap/server.go (initRegistryEventHandlers).

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { configHandler } from '../../../../src/core/handlers/config.ts';
import { definitions, kindNames } from '../../../../src/core/kinds/registry.ts';
import type { KindName } from '../../../../src/core/model/kind.ts';
import { nodeOf, step } from '../../world.ts';
import { destinationRule, peerAuthentication, service, sidecar, to, virtualService } from '../registry/fixtures.ts';
import { deletes, type Row, rows, says, serviceKey, withMeta, withProxy } from './rows.ts';

const rule = destinationRule('r', 'web');
const KEY = 'full config DestinationRule/default/r';
const GATEWAY = { servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }] };
const TCP = { hosts: ['a.com'], tcp: [to('b') ?? null] };

function of(kind: KindName, spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  const { group, versions, objectKind = kind } = definitions[kind];
  const meta = { name: 'a', namespace: 'default', ...metadata };
  return { apiVersion: `${group}/${versions[0]}`, kind: objectKind, metadata: meta, spec };
}

describe('an Istio object pushes:', () => {
  rows([
    ['its key when it is added', [], says(rule), KEY],
    ['its key when it is deleted', [rule], deletes(rule), KEY],
    ['its key for a changed spec', [rule], says(destinationRule('r', 'other')), KEY],
    ['nothing if it is unchanged', [rule], says(rule), '-'],
    ['nothing when a missing one is deleted', [], deletes(rule), '-'],
    ['nothing for an unrelated label', [rule], says(withMeta(rule, { labels: { team: 'a' } })), '-'],
    ['its key for an Istio label', [rule], says(withMeta(rule, { labels: { 'istio.io/rev': 'default' } })), KEY],
    [
      'its key for a removed Istio annotation',
      [withMeta(rule, { annotations: { 'x.istio.io/y': '1' } })],
      says(withMeta(rule, { annotations: {} })),
      KEY,
    ],
    [
      'its key for another age, because the older one wins',
      [rule],
      says(withMeta(rule, { creationTimestamp: '2026-02-01T00:00:00Z' })),
      KEY,
    ],
    ['nothing if it is refused', [rule], says(destinationRule('r', '')), '-'],
    ['nothing for a status', [rule], says({ ...rule, status: { observedGeneration: '2' } }), '-'],
  ]);
});

describe('each kind pushes its own keys:', () => {
  const ruled = { selector: { matchLabels: { app: 'a' } } };
  const wasm = of('WasmPlugin', { url: 'file:///a.wasm' }, { resourceVersion: '1' });
  const module = of('TrafficExtension', { wasm: { url: 'file:///a.wasm' } }, { resourceVersion: '1' });
  const script = of('TrafficExtension', { lua: { inlineCode: 'x' } }, { resourceVersion: '1' });
  rows([
    ['Gateway', [], says(of('Gateway', GATEWAY)), 'full config Gateway/default/a'],
    ['Sidecar', [], says(sidecar('a', { egress: [{ hosts: ['./*'] }] })), 'full config Sidecar/default/a'],
    ['PeerAuthentication', [], says(peerAuthentication('a', {})), 'full config PeerAuthentication/default/a'],
    [
      'RequestAuthentication',
      [],
      says(of('RequestAuthentication', ruled)),
      'full config RequestAuthentication/default/a',
    ],
    ['AuthorizationPolicy', [], says(of('AuthorizationPolicy', ruled)), 'full config AuthorizationPolicy/default/a'],
    ['Telemetry', [], says(of('Telemetry', ruled)), 'full config Telemetry/default/a'],
    ['ProxyConfig', [], says(of('ProxyConfig', { concurrency: 2 })), 'full config ProxyConfig/default/a'],
    ['EnvoyFilter', [], says(of('EnvoyFilter', {})), 'full config EnvoyFilter/default/a'],
    [
      'TrafficExtension',
      [],
      says(of('TrafficExtension', { lua: { inlineCode: 'x' } })),
      'full config TrafficExtension/default/a',
    ],
    [
      'WasmPlugin, as the TrafficExtension that Istio translates it to',
      [],
      says(wasm),
      'full config TrafficExtension/default/a~istio-translated-wasmplugin',
    ],
    [
      'WasmPlugin: on every write',
      [wasm],
      says(withMeta(wasm, { resourceVersion: '2' })),
      'full config TrafficExtension/default/a~istio-translated-wasmplugin',
    ],
    [
      'TrafficExtension with a module: on every write',
      [module],
      says(withMeta(module, { resourceVersion: '2' })),
      'full config TrafficExtension/default/a',
    ],
    ['TrafficExtension with code: not on every write', [script], says(withMeta(script, { resourceVersion: '2' })), '-'],
    ['WorkloadGroup: nothing', [], says(of('WorkloadGroup', { template: {} })), '-'],
  ]);
  const others = kindNames.filter(kind => !definitions[kind].group.endsWith('istio.io') && definitions[kind].notYet);
  rows(others.map((kind): Row => [`${kind}: nothing, for nothing comes of it yet`, [], says(of(kind, {})), '-']));
});

describe('with a client that reads configuration, a change pushes its key although proxies are sent nothing:', () => {
  const node = { ...nodeOf({ name: 'plane', ip: '10.0.0.1' }), metadata: { GENERATOR: 'api' } };
  const given = (parts: readonly JsonObject[]) =>
    step(withProxy('web', '10.0.0.2', parts), {
      kind: 'ProxyConnected',
      source: 'xds',
      connection: 'plane-1',
      node,
      protocol: 'sotw',
    }).state;
  const labelled = withMeta(rule, { labels: { team: 'a' } });
  const group = of('WorkloadGroup', { template: {} });
  rows([
    ['a WorkloadGroup', given([]), says(group), 'full config WorkloadGroup/default/a'],
    ['a label of the author', given([rule]), says(labelled), KEY],
    ['not a kind that it is not sent', given([]), says(of('UDPRoute', {})), '-'],
  ]);
});

describe('a VirtualService pushes:', () => {
  const leaf = virtualService('leaf', { http: [to('b')] });
  const root = (name: string, delegate: JsonObject, namespace = 'default'): JsonObject =>
    virtualService(name, { hosts: ['a.com'], http: [to('c'), { delegate }] }, { namespace });
  const own = virtualService('own', { hosts: ['b.com'], http: [to('b')] });
  rows([
    ['its own key if it has hosts', [], says(own), 'full config VirtualService/default/own'],
    ['nothing for other labels', [own], says(withMeta(own, { labels: { team: 'a' } })), '-'],
    ['its own key without HTTP rules', [], says(virtualService('tcp', TCP)), 'full config VirtualService/default/tcp'],
    ['nothing for a delegate without roots', [own], says(leaf), '-'],
    [
      'the roots of a delegate, in any namespace',
      [
        root('r', { name: 'leaf' }),
        root('far', { name: 'leaf', namespace: 'default' }, 'prod'),
        root('x', { name: 'y' }),
        virtualService('tcp', TCP),
      ],
      says(leaf),
      'full config VirtualService/default/r VirtualService/prod/far',
    ],
    [
      'nothing for a delegate of the same name in another namespace',
      [root('r', { name: 'leaf' })],
      says(withMeta(leaf, { namespace: 'prod' })),
      '-',
    ],
    [
      'its own key and its roots when it becomes a delegate',
      [root('r', { name: 'own' }), own],
      says(virtualService('own', { http: [to('b')] })),
      'full config VirtualService/default/own VirtualService/default/r',
    ],
    [
      'the roots of a deleted delegate',
      [root('r', { name: 'leaf' }), leaf],
      deletes(leaf),
      'full config VirtualService/default/r',
    ],
  ]);
});

describe('a revision tag pushes:', () => {
  const webhook = (name: string, kind: string, labels: JsonObject): JsonObject => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name, labels },
  });
  const tag = { 'istio.io/rev': 'default', 'istio.io/tag': 'prod' };
  const tagged = webhook('t', 'Mutating', tag);
  const inSystem = (labels: JsonObject): JsonObject =>
    service('tag', {}, { namespace: 'istio-system', labels: labels as never });
  rows([
    ['everything for a webhook configuration with a tag', [], says(tagged), 'full forced tag'],
    ['nothing for an unchanged tag', [tagged], says({ ...tagged, webhooks: [{ name: 'w' }] }), '-'],
    [
      'everything for a tag with another revision',
      [tagged],
      says(webhook('t', 'Mutating', { ...tag, 'istio.io/rev': 'canary' })),
      'full forced tag',
    ],
    ['everything for a deleted tag', [tagged], deletes(tagged), 'full forced tag'],
    [
      'everything for a tag without revision',
      [],
      says(webhook('t', 'Mutating', { 'istio.io/tag': 'prod' })),
      'full forced tag',
    ],
    ['nothing without a tag', [], says(webhook('t', 'Mutating', { 'istio.io/rev': 'default' })), '-'],
    [
      'everything for the validator of the default revision',
      [],
      says(webhook('istiod-default-validator', 'Validating', { 'istio.io/rev': 'default' })),
      'full forced tag',
    ],
    ['nothing for another validator', [], says(webhook('other', 'Validating', tag)), '-'],
    [
      'everything for a tagged service of the control plane',
      [],
      says(inSystem(tag)),
      `full forced service+tag ${serviceKey('tag', 'istio-system')}`,
    ],
    [
      'only the service for an untagged one of the control plane',
      [],
      says(inSystem({})),
      `full service ${serviceKey('tag', 'istio-system')}`,
    ],
    [
      'only the service for one in another namespace',
      [],
      says(service('tag', {}, { labels: tag })),
      `full service ${serviceKey('tag')}`,
    ],
  ]);
});

test('a change from absent to absent fails an assertion', () => {
  const change = { seq: 1, kind: 'Sidecar', key: 'default/a', before: undefined, after: undefined } as const;
  expect(() => configHandler(change)).toThrow('a change of Sidecar default/a from nothing to nothing');
});
