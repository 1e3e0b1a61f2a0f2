// What kubeconfig files know, as far as we rely on it: the library does it, and these tests notice if it stops.

import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCredentials } from '../../../../src/adapters/kube/credentials.ts';

let folder: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'periplus-kubeconfig-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function kubeconfig(user: object, cluster: object = {}, current = 'main'): Promise<string> {
  const path = join(folder, `${files++}.yaml`);
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443/base', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'main', context: { cluster: 'c', user: 'u' } },
      { name: 'lost', context: { cluster: 'nowhere', user: 'u' } },
    ],
    'current-context': current,
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('credentials of the API server', () => {
  it('turn a token into a header', async () => {
    const credentials = await loadCredentials({ kubeconfig: await kubeconfig({ token: 'secret' }) });
    const { server, options } = await credentials.prepare();
    expect(options.headers).toMatchObject({ Authorization: 'Bearer secret' });
    expect(server.href).toBe('https://127.0.0.1:6443/base');
    expect(credentials.shown).not.toContain('secret');
    credentials.close();
  });

  it('run an exec plugin', async () => {
    const said = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: 'made' } };
    const exec = {
      apiVersion: said.apiVersion,
      command: process.execPath,
      args: ['-e', `process.stdout.write(${JSON.stringify(JSON.stringify(said))})`],
    };
    const credentials = await loadCredentials({ kubeconfig: await kubeconfig({ exec }) });
    expect((await credentials.prepare()).options.headers).toMatchObject({ Authorization: 'Bearer made' });
    credentials.close();
  });

  it('give certificates and CA to the connection, and keep it while they are unchanged', async () => {
    const user = { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key') };
    const cluster = { 'certificate-authority-data': base64('ca'), 'tls-server-name': 'kubernetes' };
    const credentials = await loadCredentials({ kubeconfig: await kubeconfig(user, cluster) });
    const { options } = await credentials.prepare();
    expect([options.cert, options.key, options.ca].map(String)).toEqual(['cert', 'key', 'ca']);
    expect((await credentials.prepare()).options.agent).toBe(options.agent);
    credentials.close();
  });

  it('are read again after a refusal', async () => {
    const path = await kubeconfig({ token: 'old' });
    const credentials = await loadCredentials({ kubeconfig: path });
    await copyFile(await kubeconfig({ token: 'new' }), path);
    expect((await credentials.prepare()).options.headers).toMatchObject({ Authorization: 'Bearer old' });
    await credentials.refused();
    expect((await credentials.prepare()).options.headers).toMatchObject({ Authorization: 'Bearer new' });
    credentials.close();
  });

  it.each([
    ['a context without a cluster', { context: 'lost' }],
    ['a context that is not there', { context: 'nobody' }],
  ])('refuse %s', async (_, options) => {
    const path = await kubeconfig({ token: 't' });
    await expect(loadCredentials({ kubeconfig: path, ...options })).rejects.toThrow(/names no cluster/);
  });

  it('refuse a missing file', async () => {
    await expect(loadCredentials({ kubeconfig: join(folder, 'none') })).rejects.toThrow(/none/);
  });
});
