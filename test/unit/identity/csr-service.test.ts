import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { withoutAuthorityKeys } from '../../../src/core/kinds/kubernetes/authority-secret.ts';
import type { Peer } from '../../../src/core/model/caller.ts';
import { forwardedIdentities, isTrusted } from '../../../src/identity/authenticate/forwarded.ts';
import { SigningError } from '../../../src/identity/authority.ts';
import { CsrService, type CsrServiceOptions, PROVEN_AT_ONCE_MAX } from '../../../src/identity/csr-service.ts';
import { whyNotImpersonated } from '../../../src/identity/impersonation.ts';
import { testAuthority } from './authority-of-tests.ts';
import { signingRequest } from './signing-request.ts';

const ALICE = 'spiffe://cluster.local/ns/a/sa/alice';
const peer: Peer = { address: '192.0.2.1', secure: true, header: () => [] };
const caller = { identities: [ALICE], proof: { how: 'token', by: 'keys', cluster: 'c' } } as const;
const ask = (csr: string, impersonated = '') => ({ csr, validitySeconds: 0, impersonated, signer: '' });

async function service(options: Partial<CsrServiceOptions> = {}) {
  const authority = await testAuthority();
  const facts: Unrecorded[] = [];
  const made = new CsrService({
    authenticate: async () => ({ kind: 'proven', caller }),
    whyNotImpersonated: () => 'no',
    sign: ({ csr, validitySeconds }, identities) => authority.sign(csr, identities, validitySeconds),
    audit: async fact => void facts.push(fact),
    log: () => undefined,
    ready: () => true,
    count: () => undefined,
    ...options,
  });
  return { service: made, facts };
}

describe('the signing service', () => {
  it('refuses at once what is more than its queue holds, and serves the rest', async () => {
    const { service: signing } = await service({ queueMax: 50 });
    const { pem } = await signingRequest();
    const answers = await Promise.all(Array.from({ length: 10_000 }, () => signing.create(peer, ask(pem))));
    const refused = answers.filter(answer => 'code' in answer && answer.code === 'RESOURCE_EXHAUSTED');
    expect(refused).toHaveLength(9_950);
    expect(answers.filter(answer => 'certChain' in answer)).toHaveLength(50);
    expect(signing.underWay).toBe(0);
  });

  it('proves few identities at once, and all in the end', async () => {
    const waiting: (() => void)[] = [];
    const { service: signing } = await service({
      authenticate: async () => {
        await new Promise<void>(resolve => waiting.push(resolve));
        return { kind: 'refused', reasons: ['no token'] };
      },
    });
    const all = Promise.all(Array.from({ length: 3 * PROVEN_AT_ONCE_MAX }, () => signing.create(peer, ask(''))));
    for (let proven = 0; proven < 3; proven++) {
      await new Promise(resolve => setImmediate(resolve));
      expect(waiting).toHaveLength(PROVEN_AT_ONCE_MAX);
      for (const resolve of waiting.splice(0)) resolve();
    }
    expect(await all).toHaveLength(3 * PROVEN_AT_ONCE_MAX);
    expect(signing.underWay).toBe(0);
  });

  it('records what it issued and what it refused to proven callers, and no stranger', async () => {
    const { service: signing, facts } = await service();
    await signing.create(peer, ask((await signingRequest()).pem));
    await signing.create(peer, ask('nonsense'));
    await signing.create(peer, ask('', ALICE));
    const stranger = await service({ authenticate: async () => ({ kind: 'refused', reasons: ['no token'] }) });
    await stranger.service.create(peer, ask(''));
    expect(facts.map(({ kind }) => kind)).toEqual(['CertificateIssued', 'CertificateRefused', 'CertificateRefused']);
    expect(facts[2]).toMatchObject({ code: 'UNAUTHENTICATED', impersonated: ALICE, reason: 'no' });
    expect(stranger.facts).toEqual([]);
  });

  it('hands a certificate out when it is recorded, and withholds one that cannot be', async () => {
    let recorded: () => void = () => undefined;
    let isAsked: () => void = () => undefined;
    const held = new Promise<void>(resolve => {
      isAsked = resolve;
    });
    const recording = new Promise<void>(resolve => {
      recorded = resolve;
    });
    const slow = await service({
      audit: () => {
        isAsked();
        return recording;
      },
    });
    let answer: unknown;
    const created = slow.service.create(peer, ask((await signingRequest()).pem)).then(found => {
      answer = found;
    });
    await held;
    await new Promise(resolve => setImmediate(resolve));
    expect([answer, slow.service.underWay]).toEqual([undefined, 1]);
    recorded();
    await created;
    expect(answer).toHaveProperty('certChain');
    const full = await service({ audit: () => Promise.reject(new Error('too much is queued')) });
    expect(await full.service.create(peer, ask((await signingRequest()).pem))).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('asks callers to come back while identities cannot be verified or there is no authority', async () => {
    const away = await service({ authenticate: async () => ({ kind: 'unavailable', reasons: ['away'] }) });
    expect(await away.service.create(peer, ask(''))).toMatchObject({ code: 'UNAVAILABLE' });
    const early = await service({ ready: () => false });
    expect(await early.service.create(peer, ask('', ALICE))).toMatchObject({ code: 'UNAVAILABLE' });
    const sign = async () => Promise.reject(new SigningError('CA_NOT_READY', 'Istio CA is not ready'));
    const none = await service({ sign });
    expect(await none.service.create(peer, ask(''))).toEqual({
      code: 'INTERNAL',
      message: 'CSR signing error (Istio CA is not ready)',
    });
  });
});

describe('acting for others', () => {
  const pod = { namespace: 'istio-system', name: 'zt', uid: 'u1', account: 'ztunnel', node: 'n1', phase: 'Running' };
  const workload = { namespace: 'a', name: 'web', uid: 'u2', account: 'alice', node: 'n1', phase: 'Running' };
  const agent = {
    identities: ['spiffe://cluster.local/ns/istio-system/sa/ztunnel'],
    proof: { how: 'token', by: 'review', cluster: 'c', pod: { name: 'zt', uid: 'u1' } },
  } as const;
  const options = (pods = [pod, workload]) => ({
    trusted: ['istio-system/ztunnel'],
    trustDomains: ['cluster.local'],
    pods: {
      pod: (_: string, namespace: string, name: string) =>
        pods.find(one => one.namespace === namespace && one.name === name),
      onNode: (_: string, node: string) => pods.filter(one => one.node === node),
    },
  });

  it('is allowed to a trusted agent for pods of its node', () => {
    expect(whyNotImpersonated(agent, ALICE, options())).toBeUndefined();
  });

  it.each([
    ['for a pod of another node', [pod, { ...workload, node: 'n2' }], ALICE],
    ['for a pod that failed', [pod, { ...workload, phase: 'Failed' }], ALICE],
    ['when its own pod is another by now', [{ ...pod, uid: 'u9' }, workload], ALICE],
    ['when its own pod has another account', [{ ...pod, account: 'x' }, workload], ALICE],
    ['in another trust domain', [pod, workload], 'spiffe://evil/ns/a/sa/alice'],
    ['for what is no identity', [pod, workload], 'alice'],
  ])('is refused %s', (_, pods, requested) => {
    expect(whyNotImpersonated(agent, requested, options(pods))).toBeTypeOf('string');
  });

  it('is refused to accounts that are not listed and to callers by certificate', () => {
    expect(whyNotImpersonated(agent, ALICE, { ...options(), trusted: [] })).toContain('no account is trusted');
    const byCertificate = { ...agent, proof: { how: 'certificate', fingerprint: 'f' } } as const;
    expect(whyNotImpersonated(byCertificate, ALICE, options())).toContain('did not prove which pod');
  });
});

describe('a forwarded certificate', () => {
  it('counts from listed networks and from this machine', () => {
    expect(isTrusted('127.0.0.1', [])).toBe(true);
    expect(isTrusted('10.1.2.3', ['10.0.0.0/8'])).toBe(true);
    expect(isTrusted('10.1.2.3', ['10.1.2.3'])).toBe(false);
    expect(isTrusted('2001:db8::1', ['10.0.0.0/8', '2001:db8::/32'])).toBe(true);
    expect(isTrusted('', ['0.0.0.0/0'])).toBe(false);
  });

  it('names the identities of every hop', () => {
    const header = 'By=spiffe://x;Hash=0;Subject="CN=a,O=b";URI=spiffe://y;DNS=d, URI=spiffe://z';
    expect(forwardedIdentities(header.replace(', ', ','))).toEqual(['spiffe://y', 'd', 'a', 'spiffe://z']);
    for (const bad of ['nonsense', 'Evil=1', 'Subject="X=1"', 'URI="open']) {
      expect(forwardedIdentities(bad)).toBeUndefined();
    }
  });
});

describe('a Secret of the authority', () => {
  const secret = (name: string, type = 'Opaque') => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'istio-system', annotations: { last: 'ca-key' }, managedFields: [] },
    type,
    data: { 'ca-cert.pem': 'QQ==', 'ca-key.pem': 'U0VDUkVU', 'root-cert.pem': 'LS0tUFJJVkFURSBLRVktLS0=' },
  });

  it('is recorded without keys, wherever a key stands', () => {
    for (const object of [secret('istio-ca-secret'), secret('cacerts'), secret('other', 'istio.io/ca-root')]) {
      const cut = withoutAuthorityKeys(object, 'istio-system');
      expect(cut.data).toEqual({ 'ca-cert.pem': 'QQ==' });
      expect(JSON.stringify(cut)).not.toContain('ca-key');
    }
  });

  it('is not confused with the Secrets of users', () => {
    const own = secret('web-tls');
    expect(withoutAuthorityKeys(own, 'istio-system')).toBe(own);
  });
});
