// configHandler. Source: Istio pilot/pkg/bootstrap/server.go (initRegistryEventHandlers).

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { configHandler } from '../../../../src/core/handlers/config.ts';
import { definitions, kindNames } from '../../../../src/core/kinds/registry.ts';
import type { KindName } from '../../../../src/core/model/kind.ts';
import { destinationRule, peerAuthentication, service, sidecar, to, virtualService } from '../registry/fixtures.ts';
import { deletes, type Row, rows, says, serviceKey, withMeta } from './rows.ts';

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
    ['comes: its key', [], says(rule), KEY],
    ['goes: its key', [rule], deletes(rule), KEY],
    ['has another spec: its key', [rule], says(destinationRule('r', 'other')), KEY],
    ['is the same: nothing', [rule], says(rule), '-'],
    ['was never there: nothing goes', [], deletes(rule), '-'],
    ['has a label of somebody else: nothing', [rule], says(withMeta(rule, { labels: { team: 'a' } })), '-'],
    ['has a label of Istio: its key', [rule], says(withMeta(rule, { labels: { 'istio.io/rev': 'default' } })), KEY],
    [
      'loses an annotation of Istio: its key',
      [withMeta(rule, { annotations: { 'x.istio.io/y': '1' } })],
      says(withMeta(rule, { annotations: {} })),
      KEY,
    ],
    [
      'is of another age: its key, for the older one wins',
      [rule],
      says(withMeta(rule, { creationTimestamp: '2026-02-01T00:00:00Z' })),
      KEY,
    ],
    ['is refused: nothing', [rule], says(destinationRule('r', '')), '-'],
    ['has a status: nothing', [rule], says({ ...rule, status: { observedGeneration: '2' } }), '-'],
  ]);
});

describe('each kind pushes its own keys:', () => {
  const ruled = { selector: { matchLabels: { app: 'a' } } };
  const wasm = of('WasmPlugin', { url: 'file:///a.wasm' }, { resourceVersion: '1' });
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
      'WasmPlugin: as the TrafficExtension that Istio makes of it',
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
    ['WorkloadGroup: nothing', [], says(of('WorkloadGroup', { template: {} })), '-'],
  ]);
  const others = kindNames.filter(kind => !definitions[kind].group.endsWith('istio.io') && definitions[kind].notYet);
  rows(others.map((kind): Row => [`${kind}: nothing, for nothing comes of it yet`, [], says(of(kind, {})), '-']));
});

describe('a VirtualService pushes:', () => {
  const leaf = virtualService('leaf', { http: [to('b')] });
  const root = (name: string, delegate: JsonObject, namespace = 'default'): JsonObject =>
    virtualService(name, { hosts: ['a.com'], http: [to('c'), { delegate }] }, { namespace });
  const own = virtualService('own', { hosts: ['b.com'], http: [to('b')] });
  rows([
    ['with hosts: its own key', [], says(own), 'full config VirtualService/default/own'],
    ['that is the same but for labels: nothing', [own], says(withMeta(own, { labels: { team: 'a' } })), '-'],
    [
      'without rules of HTTP: its own key',
      [],
      says(virtualService('tcp', TCP)),
      'full config VirtualService/default/tcp',
    ],
    ['a delegate that nobody names: nothing', [own], says(leaf), '-'],
    [
      'a delegate: the roots that name it, in whatever namespace they are',
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
      'a delegate of the same name elsewhere: nothing',
      [root('r', { name: 'leaf' })],
      says(withMeta(leaf, { namespace: 'prod' })),
      '-',
    ],
    [
      'that becomes a delegate: its own key and its roots',
      [root('r', { name: 'own' }), own],
      says(virtualService('own', { http: [to('b')] })),
      'full config VirtualService/default/own VirtualService/default/r',
    ],
    [
      'a delegate that goes: its roots',
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
    ['a webhook configuration with a tag: everything', [], says(tagged), 'full forced tag'],
    ['the same tag again: nothing', [tagged], says({ ...tagged, webhooks: [{ name: 'w' }] }), '-'],
    [
      'the tag means another revision: everything',
      [tagged],
      says(webhook('t', 'Mutating', { ...tag, 'istio.io/rev': 'canary' })),
      'full forced tag',
    ],
    ['the tag goes: everything', [tagged], deletes(tagged), 'full forced tag'],
    [
      'a tag of no revision: everything',
      [],
      says(webhook('t', 'Mutating', { 'istio.io/tag': 'prod' })),
      'full forced tag',
    ],
    ['no tag: nothing', [], says(webhook('t', 'Mutating', { 'istio.io/rev': 'default' })), '-'],
    [
      'the validator that says the default revision: everything',
      [],
      says(webhook('istiod-default-validator', 'Validating', { 'istio.io/rev': 'default' })),
      'full forced tag',
    ],
    ['another validator: nothing', [], says(webhook('other', 'Validating', tag)), '-'],
    [
      'a service of the control plane with a tag',
      [],
      says(inSystem(tag)),
      `full forced service+tag ${serviceKey('tag', 'istio-system')}`,
    ],
    ['one without', [], says(inSystem({})), `full service ${serviceKey('tag', 'istio-system')}`],
    ['one elsewhere', [], says(service('tag', {}, { labels: tag })), `full service ${serviceKey('tag')}`],
  ]);
});

test('a change from absent to absent fails an assertion', () => {
  const change = { seq: 1, kind: 'Sidecar', key: 'default/a', before: undefined, after: undefined } as const;
  expect(() => configHandler(change)).toThrow('a change of Sidecar default/a from nothing to nothing');
});
