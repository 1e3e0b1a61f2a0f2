// One control plane feeds another over the secure port: each proves who it is with a certificate of the first one's
// authority (`configSources` with tlsSettings MUTUAL), and a certificate of another namespace is given nothing.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultSettings } from '../../src/core/mesh/settings.ts';
import { privateKeyPem } from '../../src/identity/x509/keys.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type ControlPlane, startControlPlane } from '../../src/runtime/control-plane.ts';
import { signingRequest } from '../unit/identity/signing-request.ts';
import { TestClient } from './client.ts';
import { type TestPlane, testPlane, until } from './plane.ts';

const entry = (host: string): string => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${host}, namespace: shop }
spec: { hosts: [${host}.example.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: DNS }
`;

describe('a control plane that takes configuration over the secure port', () => {
  let first: TestPlane;
  let folder: string;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-chain-'));
    first = await testPlane({ config: { 'entry.yaml': entry('one') } });
    await writeFile(join(folder, 'root.pem'), first.roots());
  });
  afterAll(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await first?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** With the certificate of a service account, `namespace/name`. */
  const second = async (account: string): Promise<{ readonly plane: ControlPlane; readonly lines: string[] }> => {
    const home = join(folder, account.replace('/', '-'));
    await mkdir(home);
    const port = first.plane.ports.secureGrpc ?? 0;
    const client = new TestClient({ port, roots: first.roots(), token: first.tokens.token(account) });
    const { pem, key } = await signingRequest();
    const chain = await client.sign(pem);
    client.close();
    if (typeof chain === 'string') throw new Error(chain);
    await writeFile(join(home, 'chain.pem'), chain.join(''));
    await writeFile(join(home, 'key.pem'), privateKeyPem(key));
    const tls = [
      'mode: MUTUAL',
      `caCertificates: ${join(folder, 'root.pem')}`,
      `clientCertificate: ${join(home, 'chain.pem')}`,
      `privateKey: ${join(home, 'key.pem')}`,
      'sni: istiod.istio-system.svc',
    ];
    const meshConfig = join(home, 'mesh.yaml');
    const source = `- address: xds://127.0.0.1:${port}\n  tlsSettings: { ${tls.join(', ')} }\n`;
    await writeFile(meshConfig, `configSources:\n${source}`);
    const lines: string[] = [];
    const anywhere = { host: '127.0.0.1', port: 0 };
    const plane = await startControlPlane(
      {
        settings: defaultSettings,
        meshConfig,
        journal: join(home, 'journal.db'),
        journalDurability: 'off',
        journalStrict: false,
        shutdownMs: 500,
        grpcAddr: anywhere,
        httpAddr: anywhere,
        monitoringAddr: anywhere,
      },
      systemClock,
      (level, message) => void lines.push(`${level} ${message}`),
    );
    closing.push(() => plane.stop());
    return { plane, lines };
  };

  it('is given it, and follows its changes', async () => {
    const { plane } = await second('istio-system/periplus');
    await until(() => plane.world.state.objects.ServiceEntry.has('shop/one'));
    await writeFile(join(first.folder, 'config', 'two.yaml'), entry('two'));
    await until(() => plane.world.state.objects.ServiceEntry.has('shop/two'));
  });

  it('is given nothing with the certificate of another namespace, and says why', async () => {
    const { plane, lines } = await second('shop/alice');
    await until(() => lines.some(line => line.includes('PERMISSION_DENIED: authorization failed')));
    expect(plane.world.state.objects.ServiceEntry.size).toBe(0);
  });
});
