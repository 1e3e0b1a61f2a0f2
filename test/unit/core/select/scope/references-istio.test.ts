// What the kinds of Istio refer to, row by row.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { KindName } from '../../../../../src/core/model/kind.ts';
import { danglingReferences } from '../../../../../src/core/select/scope/references.ts';
import { ask, world } from '../../../world.ts';
import { withSpec } from '../../kinds/verdict.ts';
import { pod, serviceEntry, workloadEntry } from '../../registry/fixtures.ts';

describe('the references of Istio kinds include', () => {
  const of = (kind: KindName, spec: JsonObject, rest: JsonObject = {}): JsonObject => ({
    ...withSpec(kind, spec),
    ...rest,
  });
  const meta = (more: JsonObject): JsonObject => ({ metadata: { name: 'a', namespace: 'prod', ...more } });
  const podX = pod('x', '10.0.0.1', { namespace: 'prod', labels: { app: 'x' } });
  const selector = { matchLabels: { app: 'web' } };
  const missing = 'workload with app=web';
  test.each<[string, readonly JsonObject[], readonly string[]]>([
    ['a policy selects nothing', [podX, of('PeerAuthentication', { selector })], [`spec.selector: ${missing}`]],
    [
      'a policy of the root namespace selects everywhere',
      [
        pod('w', '10.0.0.2', { namespace: 'prod', labels: { app: 'web' } }),
        of('PeerAuthentication', { selector }, meta({ namespace: 'istio-system' })),
      ],
      [],
    ],
    [
      'a policy of another namespace does not',
      [pod('w', '10.0.0.2', { namespace: 'test', labels: { app: 'web' } }), of('PeerAuthentication', { selector })],
      [`spec.selector: ${missing}`],
    ],
    [
      'a WorkloadEntry is a workload',
      [
        workloadEntry('w', { address: '1.1.1.1', labels: { app: 'web' } }, { namespace: 'prod' }),
        of('PeerAuthentication', { selector }),
      ],
      [],
    ],
    ['nothing while no workload is known', [of('PeerAuthentication', { selector })], []],
    ['ProxyConfig', [podX, of('ProxyConfig', { selector })], [`spec.selector: ${missing}`]],
    [
      'EnvoyFilter',
      [podX, of('EnvoyFilter', { workloadSelector: { labels: { app: 'web' } } })],
      [`spec.workloadSelector: ${missing}`],
    ],
    [
      'AuthorizationPolicy',
      [of('AuthorizationPolicy', { action: 'CUSTOM', provider: { name: 'ext' }, rules: [{}] })],
      ['spec.provider: extension provider ext'],
    ],
    [
      'Telemetry',
      [
        of('Telemetry', {
          tracing: [{ providers: [{ name: 'zip' }] }],
          metrics: [{ providers: [{ name: 'prometheus' }] }],
          accessLogging: [{ providers: [{ name: 'als' }] }],
        }),
      ],
      [
        'spec.tracing[0].providers[0]: extension provider zip',
        'spec.accessLogging[0].providers[0]: extension provider als',
      ],
    ],
    [
      'WasmPlugin',
      [of('WasmPlugin', { url: 'oci://a/b', imagePullSecret: 's' })],
      ['spec.imagePullSecret: Secret/prod/s'],
    ],
    [
      'TrafficExtension',
      [of('TrafficExtension', { wasm: { url: 'oci://a/b', imagePullSecret: 's' } })],
      ['spec.wasm.imagePullSecret: Secret/prod/s'],
    ],
    [
      'Gateway: workloads anywhere',
      [
        pod('w', '10.0.0.2', { namespace: 'test', labels: { istio: 'gw' } }),
        of('Gateway', {
          selector: { istio: 'gw' },
          servers: [{ port: { number: 80, name: 'a', protocol: 'HTTP' }, hosts: ['*'] }],
        }),
      ],
      [],
    ],
    [
      'Gateway',
      [
        podX,
        of('Gateway', {
          selector: { istio: 'gw' },
          servers: [
            {
              port: { number: 443, name: 'a', protocol: 'HTTPS' },
              hosts: ['*'],
              tls: { mode: 'SIMPLE', credentialNames: ['a', 'kubernetes://b'] },
            },
          ],
        }),
      ],
      ['spec.selector: workload with istio=gw', 'spec.servers[0].tls.credentialNames[0]: Secret/prod/a'],
    ],
    [
      'DestinationRule',
      [
        podX,
        of('DestinationRule', {
          host: 'web',
          workloadSelector: selector,
          trafficPolicy: { tls: { mode: 'SIMPLE', credentialName: 'c' } },
          subsets: [
            {
              name: 's',
              labels: { a: 'b' },
              trafficPolicy: {
                portLevelSettings: [{ port: { number: 80 }, tls: { mode: 'SIMPLE', credentialName: 'd' } }],
              },
            },
          ],
        }),
      ],
      [
        'spec.host: host web.prod.svc.cluster.local',
        'spec.trafficPolicy.tls.credentialName: Secret/prod/c',
        'spec.subsets[0].trafficPolicy.portLevelSettings[0].tls.credentialName: Secret/prod/d',
        `spec.workloadSelector: ${missing}`,
      ],
    ],
    [
      'Sidecar',
      [
        podX,
        of('Sidecar', {
          workloadSelector: { labels: { app: 'web' } },
          egress: [{ hosts: ['./web.com', '*/api.com', 'prod/*', '*/*.com'] }],
          outboundTrafficPolicy: { mode: 'ALLOW_ANY', egressProxy: { host: 'proxy', port: { number: 80 } } },
        }),
      ],
      [
        `spec.workloadSelector: ${missing}`,
        'spec.egress[0].hosts[0]: host web.com',
        'spec.egress[0].hosts[1]: host api.com',
        'spec.outboundTrafficPolicy.egressProxy: host proxy.prod.svc.cluster.local',
      ],
    ],
    [
      'ServiceEntry',
      [
        podX,
        serviceAccount('b'),
        serviceEntry('a', { hosts: ['a.com'], workloadSelector: { labels: { app: 'web' } } }, { namespace: 'prod' }),
        serviceEntry(
          'c',
          { hosts: ['c.com'], endpoints: [{ address: '1.1.1.1', serviceAccount: 'robot' }] },
          { namespace: 'prod' },
        ),
      ],
      [
        'spec.serviceAccountName: ServiceAccount/prod/default',
        `spec.workloadSelector: ${missing}`,
        'spec.endpoints[0].serviceAccount: ServiceAccount/prod/robot',
      ],
    ],
    [
      'WorkloadEntry',
      [
        serviceAccount('b'),
        workloadEntry(
          'a',
          { address: '1.1.1.1', serviceAccount: 'robot' },
          { namespace: 'prod', annotations: { 'istio.io/autoRegistrationGroup': 'g' } },
        ),
      ],
      [
        'spec.serviceAccount: ServiceAccount/prod/robot',
        'metadata.annotations[istio.io/autoRegistrationGroup]: WorkloadGroup/prod/g',
      ],
    ],
    [
      'WorkloadGroup',
      [serviceAccount('b'), of('WorkloadGroup', { template: { serviceAccount: 'robot' } })],
      ['spec.template.serviceAccount: ServiceAccount/prod/robot'],
    ],
    ['nothing while no account is known', [of('WorkloadGroup', { template: { serviceAccount: 'robot' } })], []],
  ])('%s', (_, objects, expected) => {
    const found = ask(world(objects), danglingReferences, '');
    expect(found.map(one => `${one.path}: ${one.missing}`)).toEqual(expected);
  });
  function serviceAccount(name: string): JsonObject {
    return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'prod' } };
  }
});
