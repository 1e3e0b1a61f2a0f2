import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { emptyState, type State } from '../../../src/core/state.ts';
import { BundleAdapter, certificatesIn, REFRESH_MS, RETRY_MS } from '../../../src/identity/sources/bundle-adapter.ts';
import { RecordingSink } from '../adapters/recording-sink.ts';
import { type TestRoot, testRoot } from './authority-of-tests.ts';

let root: TestRoot;
beforeAll(async () => {
  root = await testRoot('other.example');
});

const bundleOf = ({ certificate }: TestRoot): string => {
  const x5c = [new X509Certificate(certificate).raw.toString('base64')];
  return JSON.stringify({
    keys: [
      { use: 'jwt-svid', kty: 'EC' },
      { use: 'x509-svid', kty: 'EC', x5c },
    ],
  });
};

const meshWith = (...caCertificates: readonly object[]): State =>
  ({ ...emptyState, mesh: { effective: { caCertificates } } }) as unknown as State;

function rig(answers: Record<string, string>) {
  const timers: { readonly ms: number; readonly run: () => void; isCancelled: boolean }[] = [];
  const asked: string[] = [];
  const adapter = new BundleAdapter({
    cluster: 'Kubernetes',
    after: (ms, run) => {
      const timer = { ms, run, isCancelled: false };
      timers.push(timer);
      return {
        cancel: () => {
          timer.isCancelled = true;
        },
      };
    },
    log: () => undefined,
    download: async url => {
      asked.push(url);
      const answer = answers[url];
      if (answer === undefined) throw new Error('status 503');
      return answer;
    },
  });
  const settled = (): Promise<unknown> => new Promise(resolve => setTimeout(resolve, 5));
  const planned = (): readonly number[] => timers.filter(({ isCancelled }) => !isCancelled).map(({ ms }) => ms);
  const elapse = async (): Promise<void> => {
    for (const { run, isCancelled } of timers.splice(0)) if (!isCancelled) run();
    await settled();
  };
  return { adapter, asked, sink: new RecordingSink(), planned, settled, elapse, answers };
}

describe('SPIFFE bundles of MeshConfig', () => {
  it('are fetched over https and become objects with the certificates for X.509', async () => {
    const { adapter, asked, sink, planned, settled } = rig({ 'https://other.example/bundle': bundleOf(root) });
    adapter.onState(meshWith({ spiffeBundleUrl: 'other.example/bundle' }, { pem: 'PEM', spiffeBundleUrl: 'unused' }));
    await adapter.start(sink);
    await settled();
    expect(asked).toEqual(['https://other.example/bundle']);
    const [fact] = sink.batches.flat();
    expect(fact).toMatchObject({ kind: 'Update', object: { kind: 'SpiffeBundle' } });
    expect(JSON.stringify(fact)).toContain(root.certificate.split('\n')[1]);
    expect(planned()).toEqual([REFRESH_MS]);
  });

  it('stay as they were when a fetch fails, and are deleted with their URL', async () => {
    const { adapter, sink, planned, settled, elapse, answers } = rig({ 'https://a': bundleOf(root) });
    adapter.onState(meshWith({ spiffeBundleUrl: 'https://a' }));
    await adapter.start(sink);
    await settled();
    delete answers['https://a'];
    await elapse();
    expect(planned()).toEqual([RETRY_MS]);
    expect(sink.batches).toHaveLength(1);
    expect(adapter.status().troubles).toEqual(['SPIFFE bundle https://a: status 503']);
    adapter.onState(meshWith());
    await settled();
    expect(sink.batches.flat().at(-1)).toMatchObject({ kind: 'Delete' });
    expect(planned()).toEqual([]);
  });

  it('are refused whole if a certificate is missing, doubled or not that of an authority', () => {
    const [raw] = [new X509Certificate(root.certificate).raw.toString('base64')];
    const bundle = (...keys: readonly object[]): string => JSON.stringify({ keys });
    expect(() => certificatesIn(bundle())).toThrow('no certificate');
    expect(() => certificatesIn(bundle({ use: 'x509-svid', x5c: [raw, raw] }))).toThrow('2 certificates');
    expect(() => certificatesIn(bundle({ use: 'x509-svid', x5c: ['bm90IGE='] }))).toThrow();
    expect(() => certificatesIn('<html>')).toThrow();
    expect(certificatesIn(bundle({ use: 'x509-svid', x5c: [raw] }))).toHaveLength(1);
  });
});
