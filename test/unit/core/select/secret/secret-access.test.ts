import { describe, expect, it } from 'vitest';
import { base64OfText } from '../../../../../src/core/base/base64.ts';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { IDENTITY_API } from '../../../../../src/core/kinds/periplus/identity.ts';
import { defaultSettings } from '../../../../../src/core/mesh/settings.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { type SecretAccessRule, secretAccessRules } from '../../../../../src/core/select/secret/secret-access.ts';
import { secretNamed } from '../../../../../src/xds/assemble/secret/resources.ts';
import { inCluster, nodeOf, proxyOf, world } from '../../../world.ts';

const secret: JsonObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata: { namespace: 'edge', name: 'cert' },
  data: { 'tls.crt': base64OfText('chain'), 'tls.key': base64OfText('key'), 'ca.crt': base64OfText('roots') },
};

const access = (name: string, allowed: boolean): JsonObject => ({
  apiVersion: IDENTITY_API,
  kind: 'SecretAccess',
  metadata: { namespace: 'edge', name },
  spec: { allowed },
});

const gateway = (credentialName: string): JsonObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'Gateway',
  metadata: { namespace: 'edge', name: 'gw' },
  spec: {
    selector: { app: 'gw' },
    servers: [
      {
        port: { number: 443, name: 'https', protocol: 'HTTPS' },
        hosts: ['*'],
        tls: { mode: 'SIMPLE', credentialName },
      },
    ],
  },
});

const originating = (credentialName: string): JsonObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'DestinationRule',
  metadata: { namespace: 'edge', name: 'egress' },
  spec: {
    host: 'example.com',
    trafficPolicy: { portLevelSettings: [{ port: { number: 443 }, tls: { mode: 'MUTUAL', credentialName } }] },
  },
});

const proxy = (type: 'router' | 'sidecar', cluster: string) => ({
  ...proxyOf(
    nodeOf({
      type,
      namespace: 'edge',
      labels: { app: 'gw' },
      metadata: { SERVICE_ACCOUNT: 'gw', CLUSTER_ID: cluster },
    }),
  ),
  identities: ['spiffe://td/ns/edge/sa/gw'],
});

interface Case {
  readonly rule: string;
  readonly objects?: readonly JsonObject[];
  /** Of the cluster `remote`. */
  readonly remote?: readonly JsonObject[];
  readonly type?: 'router' | 'sidecar';
  readonly cluster?: string;
  readonly name?: string;
}

function isServed({ rule, objects = [], remote = [], type = 'router', ...rest }: Case): boolean {
  const { cluster = 'Kubernetes', name = 'cert' } = rest;
  const settings = { ...defaultSettings, env: { PERIPLUS_SECRET_ACCESS: rule } };
  const state = world([secret, ...objects, inCluster('remote', ...remote)], { settings });
  return new Tracker().get(state, proxy(type, cluster), secretNamed, `kubernetes://${name}`) !== undefined;
}

describe('a private key of the own namespace', () => {
  it('is served by `review` only if the API server has said that the account may list Secrets', () => {
    const rule: SecretAccessRule = 'review';
    expect(isServed({ rule })).toBe(false);
    expect(isServed({ rule, objects: [access('gw', false), gateway('cert')] })).toBe(false);
    expect(isServed({ rule, objects: [access('other', true), gateway('cert')] })).toBe(false);
    expect(isServed({ rule, objects: [access('gw', true)] })).toBe(true);
  });

  it('is served by `references` only if a Gateway of the proxy or a DestinationRule names it', () => {
    const rule: SecretAccessRule = 'references';
    expect(isServed({ rule })).toBe(false);
    expect(isServed({ rule, objects: [access('gw', true)] })).toBe(false);
    expect(isServed({ rule, objects: [gateway('another')] })).toBe(false);
    expect(isServed({ rule, objects: [gateway('cert')] })).toBe(true);
    expect(isServed({ rule, objects: [gateway('kubernetes://cert')] })).toBe(true);
    expect(isServed({ rule, objects: [gateway('configmap://edge/cert')] })).toBe(false);
    expect(isServed({ rule, objects: [gateway('cert')], type: 'sidecar' })).toBe(false);
    expect(isServed({ rule, objects: [originating('cert')], type: 'sidecar' })).toBe(true);
    expect(isServed({ rule, objects: [originating('another')], type: 'sidecar' })).toBe(false);
  });

  it('is served to a proxy of another cluster by the rights that its account has there', () => {
    const there = { rule: 'review', cluster: 'remote' } as const;
    expect(isServed({ ...there, objects: [access('gw', true), gateway('cert')] })).toBe(false);
    expect(isServed({ ...there, remote: [access('gw', false)] })).toBe(false);
    expect(isServed({ ...there, remote: [access('gw', true)] })).toBe(true);
    expect(isServed({ rule: 'review', remote: [access('gw', true)] })).toBe(false);
  });

  it('is served to its whole namespace by `namespace`, and by no rule that is unknown', () => {
    expect(secretAccessRules).toContain('namespace');
    expect(isServed({ rule: 'namespace' })).toBe(true);
    expect(isServed({ rule: 'everything' })).toBe(false);
  });

  it('needs no right where only the roots are asked for', () => {
    expect(isServed({ rule: 'review', name: 'cert-cacert' })).toBe(true);
  });
});
