// Analysis of objects of our own: each analyzer says something of the object that it is about, nothing of one beside
// it, and suppression takes messages away. Istio's own table is in test/conformance/analysis-goldens.test.ts.

import { describe, expect, test } from 'vitest';
import { analyze, type Suppression } from '../../../src/analysis/analyze.ts';
import { messageKinds } from '../../../src/analysis/catalogue.ts';
import { documentationOf, friendlyName } from '../../../src/analysis/message.ts';
import { analyzedObjects } from '../../../src/analysis/objects.ts';
import { analyzers } from '../../../src/analysis/registry.ts';
import { PROXY_CONFIG_CHARS_MAX } from '../../../src/core/mesh/pod-annotations.ts';
import { emptyState } from '../../../src/core/state.ts';
import { analyzeFiles } from '../../../src/offline/analysis.ts';
import { analysisContext, objectsOfText, withPodsOfTemplates } from '../../../src/offline/analysis-input.ts';
import { foldFacts, objectFacts } from '../../../src/offline/generate.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

function said(text: string, suppressions: readonly Suppression[] = []): readonly string[] {
  const objects = withPodsOfTemplates(objectsOfText('c', 'a.yaml', text));
  const { messages } = analyze(analyzedObjects(objects, analysisContext(emptyState, NOW)), analyzers, { suppressions });
  return messages.map(({ code, item, text }) => `${code} ${item === undefined ? '' : friendlyName(item)}: ${text}`);
}

const service = (name: string, port = '{name: http, port: 80}') => `
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: shop}
spec: {selector: {app: ${name}}, ports: [${port}]}
---`;
const route = (name: string, spec: string, annotations = '{}') => `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: ${name}, namespace: shop, annotations: ${annotations}}
spec: ${spec}
---`;

describe('analysis', () => {
  test('names a destination port that the Service lacks', () => {
    const found = said(
      service('cart') +
        route('r', '{hosts: [cart], http: [{route: [{destination: {host: cart, port: {number: 81}}}]}]}'),
    );
    expect(found).toEqual(['IST0101 VirtualService shop/r: Referenced host:port not found: "cart:81"']);
  });

  test('names both VirtualServices of a host, and none of hosts apart', () => {
    const spec = (host: string) => `{hosts: [${host}], http: [{route: [{destination: {host: cart}}]}]}`;
    const both = said(service('cart') + route('a', spec('cart')) + route('b', spec('cart.shop.svc.cluster.local')));
    expect(both.map(line => line.slice(0, 36))).toEqual([
      'IST0109 VirtualService shop/a: The V',
      'IST0109 VirtualService shop/b: The V',
    ]);
    expect(said(service('cart') + route('a', spec('cart')) + route('b', spec('b.example.com')))).toEqual([]);
  });

  test('names a rule behind one that takes everything', () => {
    const rules =
      '{hosts: [cart], http: [{route: [{destination: {host: cart}}]}, {match: [{uri: {prefix: /a}}], route: [{destination: {host: cart}}]}]}';
    expect(said(service('cart') + route('r', rules))).toEqual([
      'IST0130 VirtualService shop/r: VirtualService rule #1 not used (route without matches defined before).',
    ]);
  });

  test('names what validation accepts with a warning', () => {
    const rules = '{hosts: [cart], gateways: [edge.shop], http: [{route: [{destination: {host: cart}}]}]}';
    expect(said(service('cart') + route('r', rules)).filter(line => line.startsWith('IST0133'))).toEqual([
      'IST0133 VirtualService shop/r: Schema validation warning: using legacy gatewayName format "edge.shop"; prefer the <namespace>/<name> format: "shop/edge"',
    ]);
  });

  test('takes the image type of an annotation as the injector does, up to its length', () => {
    const pod = (config: string) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: istio-sidecar-injector, namespace: istio-system}
data: {values: '{"global": {"hub": "h", "tag": "t", "proxy": {"image": "proxyv2"}}}'}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio-injection: enabled}}
---
apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: shop
  labels: {app: p}
  annotations: {proxy.istio.io/config: '${config}'}
spec: {containers: [{name: istio-proxy, image: h/proxyv2:t-debug}]}
---`;
    const mismatches = (config: string): number =>
      said(pod(config)).filter(line => line.startsWith('IST0158 Namespace shop')).length;
    expect(mismatches('image: {imageType: debug}')).toBe(0);
    expect(mismatches('image: {imageType: distroless}')).toBe(1);
    expect(mismatches(`image: {imageType: debug} #${'x'.repeat(PROXY_CONFIG_CHARS_MAX)}`)).toBe(1);
  });

  test('takes the template of a workload for its pods where no pod is given', () => {
    const text = `${service('cart')}
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: shop}
spec: {template: {metadata: {labels: {app: cart, version: v1}}, spec: {containers: [{name: app, image: cart}]}}}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: cart, namespace: shop}
spec: {host: cart, subsets: [{name: one, labels: {version: v1}}, {name: two, labels: {version: v2}}]}
`;
    expect(said(text).map(line => line.slice(0, 60))).toEqual([
      'IST0173 DestinationRule shop/cart: The Subset two defined in',
    ]);
    const withoutWorkload = text.replace(/apiVersion: apps[\s\S]*?---/, '');
    expect(said(withoutWorkload), 'without any pod no subset is reported').toEqual([]);
  });

  test.each([
    ['the annotation names the code', '{galley.istio.io/analyze-suppress: "IST0118,IST0101"}', []],
    ['the annotation names every code', '{galley.istio.io/analyze-suppress: "*"}', []],
    ['the flag names the object', '{}', [{ code: 'IST0101', resource: 'VirtualService r.shop' }]],
    ['the flag names objects by a wildcard', '{}', [{ code: 'IST0101', resource: 'Virtual*shop/*' }]],
  ])('leaves a message out when %s', (_when, annotations, suppressions) => {
    const text =
      service('cart') + route('r', '{hosts: [cart], http: [{route: [{destination: {host: none}}]}]}', annotations);
    expect(said(text, suppressions)).toEqual([]);
    expect(said(text.replace(annotations, '{}'))).toHaveLength(1);
  });

  test('names an object that two files hold, at the second one', () => {
    const files = [objectsOfText('c', 'a.yaml', service('cart')), objectsOfText('c', 'b.yaml', service('cart'))].flat();
    const { state } = foldFacts(objectFacts('file/c', 'a.yaml', Buffer.from(service('cart'))));
    const { messages, objects } = analyzeFiles(state, files, { analyzers, now: NOW });
    expect(objects).toBe(2);
    expect(messages.map(({ code, item, text }) => [code, item?.origin?.file, text])).toEqual([
      ['PER0002', 'b.yaml', 'The same object stands at a.yaml:2:1, too. Only one of the two can be in force.'],
    ]);
  });

  test('repeats no document that is no object', () => {
    const files = ['a.yaml', 'b.json'].flatMap(file => objectsOfText('c', file, 'accessLogFile: /dev/stdout\n'));
    const { state } = foldFacts([]);
    expect(analyzeFiles(state, files, { analyzers, now: NOW }).messages).toEqual([]);
  });

  test('survives objects whose members have any type', () => {
    const odd = ['1', '[]', 'text', '{a: 1}', '[{}]', 'null'];
    const kinds = ['v1/Service', 'v1/Pod', 'v1/Secret', 'v1/ConfigMap', 'v1/Namespace', 'apps/v1/Deployment'];
    for (const kind of [...kinds, 'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration']) {
      const slash = kind.lastIndexOf('/');
      for (const value of odd) {
        const members = ['spec', 'data', 'status', 'webhooks'].map(member => `${member}: ${value}`).join('\n');
        const text = `apiVersion: ${kind.slice(0, slash)}\nkind: ${kind.slice(slash + 1)}\nmetadata: {name: istio-sidecar-injector, labels: ${value}, annotations: ${value}}\n${members}`;
        expect(() => said(`${text}\n---${service('cart')}`)).not.toThrow();
      }
    }
  });

  test('declares each code once and links to the page of those of Istio', () => {
    const codes = messageKinds.map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    expect(documentationOf('IST0101')).toBe(
      'https://istio.io/v1.30/docs/reference/config/analysis/ist0101/?ref=istioctl-analyze',
    );
    expect(documentationOf('PER0001')).toBeUndefined();
  });
});
