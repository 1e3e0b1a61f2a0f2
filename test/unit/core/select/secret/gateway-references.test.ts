// Which secrets a gateway may have because its Gateways refer to them.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { gatewayReferences } from '../../../../../src/core/select/secret/gateway-references.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';
import { gateway as apiGateway, listener, services } from '../../translate/gateway-api/scene.ts';

interface Asked {
  readonly type?: 'router' | 'sidecar';
  readonly identities?: readonly string[];
}

function references(objects: readonly JsonObject[], { type = 'router', ...rest }: Asked = {}): readonly string[] {
  const { identities = ['spiffe://td/ns/edge/sa/gw'] } = rest;
  const node = nodeOf({ type, namespace: 'edge', labels: { app: 'gw' }, metadata: { SERVICE_ACCOUNT: 'gw' } });
  return [...ask(world(objects), gatewayReferences, '', { ...proxyOf(node), identities })];
}

const gateway = (servers: readonly JsonObject[], namespace = 'edge'): JsonObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'Gateway',
  metadata: { namespace, name: 'gw' },
  spec: { selector: { app: 'gw' }, servers },
});
const https = (mode: string, tls: JsonObject): JsonObject => ({
  port: { number: 443, name: 'https', protocol: 'HTTPS' },
  hosts: ['*'],
  tls: { mode, ...tls },
});
const plain: JsonObject = { port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] };
const NAMED = 'kubernetes-gateway://edge/a';
const one = { credentialName: NAMED };

describe('a gateway may have', () => {
  it('what the servers of its Gateways refer to, in one field or the other', () => {
    expect(references([gateway([plain, https('SIMPLE', one)])])).toEqual([NAMED]);
    const several = { credentialNames: [NAMED, 'kubernetes-gateway://edge/b'] };
    expect(references([gateway([https('SIMPLE', several)])])).toEqual(several.credentialNames);
  });

  it.each([
    ['SIMPLE', [NAMED]],
    ['MUTUAL', [NAMED, `${NAMED}-cacert`]],
    ['OPTIONAL_MUTUAL', [NAMED, `${NAMED}-cacert`]],
  ])('of a server of mode %s: %j', (mode, expected) => {
    expect(references([gateway([https(mode, one)])])).toEqual(expected);
  });

  it('nothing without an identity, as a sidecar, or of Gateways of other namespaces', () => {
    const objects = [gateway([https('SIMPLE', one)])];
    expect(references(objects, { identities: [] })).toEqual([]);
    expect(references(objects, { type: 'sidecar' })).toEqual([]);
    for (const credentialName of [NAMED, 'kubernetes-gateway://far/a']) {
      expect(references([gateway([https('SIMPLE', { credentialName })], 'far')])).toEqual([]);
    }
  });

  it('a secret of another namespace only if it is granted there to Gateways', () => {
    const far = { credentialName: 'kubernetes-gateway://far/a' };
    const grant = (kind: string): JsonObject => ({
      apiVersion: 'gateway.networking.k8s.io/v1beta1',
      kind: 'ReferenceGrant',
      metadata: { namespace: 'far', name: 'g' },
      spec: {
        from: [{ group: 'gateway.networking.k8s.io', kind, namespace: 'edge' }],
        to: [{ group: '', kind: 'Secret', name: 'a' }],
      },
    });
    const objects = [gateway([https('SIMPLE', far)])];
    expect(references(objects)).toEqual([]);
    expect(references([...objects, grant('Gateway')])).toEqual([far.credentialName]);
    expect(references([...objects, grant('ListenerSet')])).toEqual([]);
    const other = { credentialName: 'kubernetes-gateway://far/b' };
    expect(references([gateway([https('SIMPLE', other)]), grant('Gateway')])).toEqual([]);
  });
});

it('a Gateway of the Gateway API is served by its own account alone', () => {
  const tls = { options: { 'gateway.istio.io/tls-terminate-mode': 'ISTIO_SIMPLE' } };
  const made = world([...services, apiGateway('gw', [listener('tls', { port: 80, protocol: 'HTTPS', tls })])]);
  const of = (account: string) => {
    const metadata = { SERVICE_ACCOUNT: account };
    const node = nodeOf({ type: 'router', namespace: 'infra', labels: { app: 'gw-istio' }, metadata });
    const identities = [`spiffe://td/ns/infra/sa/${account}`];
    return [...ask(made, gatewayReferences, '', { ...proxyOf(node), identities })];
  };
  expect(of('gw-istio')).toHaveLength(1);
  expect(of('other')).toEqual([]);
});
