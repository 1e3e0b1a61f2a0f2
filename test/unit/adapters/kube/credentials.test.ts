// What kubeconfig files know: tokens, files, certificates, plugins, OIDC, impersonation; and what is refused.

import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

/** An exec plugin made of a script, which has `answer`. */
async function plugin(script: string): Promise<{ apiVersion: string; command: string; args: readonly string[] }> {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const answer = `const answer = status => console.log(JSON.stringify({ apiVersion: '${apiVersion}', kind: 'ExecCredential', status }));`;
  return { apiVersion, command: process.execPath, args: ['-e', `${answer}${script}`] };
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

  it('run a plugin once until what it made expires, and again after a refusal', async () => {
    const runs = join(folder, 'runs');
    const script = await plugin(
      `require('node:fs').appendFileSync(${JSON.stringify(runs)}, 'x');
       const { spec } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
       const token = [process.env.WHO, spec.interactive, spec.cluster.server, spec.cluster.config.audience].join(' ');
       answer({ token, expirationTimestamp: new Date(Date.now() + 60_000).toISOString() });`,
    );
    const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'mesh' } }];
    const exec = { ...script, env: [{ name: 'WHO', value: 'me' }], provideClusterInfo: true };
    const credentials = await loadCredentials({ kubeconfig: await kubeconfig({ exec }, { extensions }) });
    const [{ options }] = await Promise.all([credentials.prepare(), credentials.prepare(), credentials.prepare()]);
    expect(options.headers).toEqual({ Authorization: 'Bearer me false https://127.0.0.1:6443/base mesh' });
    expect(await readFile(runs, 'utf8')).toBe('x');
    await credentials.refused();
    await credentials.prepare();
    expect(await readFile(runs, 'utf8')).toBe('xx');
    credentials.close();
  });

  it('run a plugin again when what it made has expired', async () => {
    const exec = await plugin(
      `answer({ token: String(Math.random()), expirationTimestamp: new Date(Date.now() - 1).toISOString() })`,
    );
    const credentials = await loadCredentials({ kubeconfig: await kubeconfig({ exec }) });
    const first = (await credentials.prepare()).options.headers;
    expect((await credentials.prepare()).options.headers).not.toEqual(first);
  });

  it('take certificates from a plugin', async () => {
    const exec = await plugin(`answer({ clientCertificateData: 'cert', clientKeyData: 'key' })`);
    const { options } = await (await loadCredentials({ kubeconfig: await kubeconfig({ exec }) })).prepare();
    expect([options.cert, options.key]).toEqual(['cert', 'key']);
  });

  it.each([
    [
      'is not there',
      { command: './no-such-plugin', installHint: 'brew install it' },
      /no such program\nbrew install it/,
    ],
    ['fails', { args: ['-e', 'console.error("log in first"); process.exit(3)'] }, /exit code 3: log in first/],
    ['prints no JSON', { args: ['-e', 'console.log("secret")'] }, /its output is not JSON$/],
    ['prints something else', { args: ['-e', 'console.log("{}")'] }, /no ExecCredential with a status/],
  ])('tell that a plugin %s', async (_, exec, message) => {
    const known = { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, ...exec };
    const credentials = await loadCredentials({ kubeconfig: await kubeconfig({ exec: known }) });
    await expect(credentials.prepare()).rejects.toThrow(message);
  });

  it.each([
    ['a plugin of an unknown version', { exec: { apiVersion: 'v7', command: 'x' } }, /apiVersion v7 is not known/],
    [
      'a plugin that wants a terminal',
      { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', interactiveMode: 'Always' } },
      /wants a terminal/,
    ],
    ['a provider that Kubernetes gave up', { 'auth-provider': { name: 'gcp' } }, /gke-gcloud-auth-plugin/],
  ])('refuse %s', async (_, user, message) => {
    await expect(loadCredentials({ kubeconfig: await kubeconfig(user) })).rejects.toThrow(message);
  });

  it('are user and password, and say who to act as', async () => {
    const user = {
      username: 'ann',
      password: 'b:c',
      as: 'root',
      'as-groups': ['x', 'y'],
      'as-user-extra': { a: ['1'] },
    };
    const { options } = await (await loadCredentials({ kubeconfig: await kubeconfig(user) })).prepare();
    expect(options.headers).toEqual({
      Authorization: `Basic ${base64('ann:b:c')}`,
      'Impersonate-User': 'root',
      'Impersonate-Group': ['x', 'y'],
      'Impersonate-Extra-a': ['1'],
    });
  });

  it('are read from files beside the kubeconfig, a token file before a token', async () => {
    for (const [name, text] of Object.entries({ token: 'from file\n', ca: 'CA', cert: 'CERT', key: 'KEY' })) {
      await writeFile(join(folder, name), text);
    }
    const user = {
      token: 'other',
      tokenFile: 'token',
      'client-certificate': 'cert',
      'client-key': join(folder, 'key'),
    };
    const path = await kubeconfig(user, { 'certificate-authority': 'ca' });
    const { options } = await (await loadCredentials({ kubeconfig: path })).prepare();
    expect(options.headers).toEqual({ Authorization: 'Bearer from file' });
    expect([options.ca, options.cert, options.key]).toEqual(['CA', 'CERT', 'KEY']);
  });

  it('are not sent without TLS unless the kubeconfig gives TLS up', async () => {
    const server = 'http://127.0.0.1:6443';
    await expect(loadCredentials({ kubeconfig: await kubeconfig({ token: 't' }, { server }) })).rejects.toThrow(/TLS/);
    const path = await kubeconfig({ token: 't' }, { server, 'insecure-skip-tls-verify': true });
    expect((await loadCredentials({ kubeconfig: path })).shown).toContain(server);
  });

  it('of a pod are refused where there is no pod', async () => {
    await expect(loadCredentials({})).rejects.toThrow(/this is no pod/);
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

describe('an ID token of OIDC', () => {
  const token = (exp: number): string => `h.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.s`;
  const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;

  it('is used while it is valid', async () => {
    const config = { 'id-token': token(inAnHour), 'client-id': 'c' };
    const path = await kubeconfig({ 'auth-provider': { name: 'oidc', config } });
    const { options } = await (await loadCredentials({ kubeconfig: path })).prepare();
    expect(options.headers).toEqual({ Authorization: `Bearer ${token(inAnHour)}` });
  });

  it('is renewed once it has expired, with the refresh token that came last', async () => {
    const asked: string[] = [];
    let renewals = 0;
    const issuer = createServer((request, response) => {
      if (request.url === '/realm/.well-known/openid-configuration') {
        const { port } = issuer.address() as AddressInfo;
        return void response.end(JSON.stringify({ token_endpoint: `http://127.0.0.1:${port}/token` }));
      }
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => {
        asked.push(`${request.headers.authorization} ${body}`);
        renewals++;
        const exp = renewals === 1 ? 1 : inAnHour;
        response.end(JSON.stringify({ id_token: token(exp), refresh_token: `r${renewals}` }));
      });
    });
    await new Promise<void>(resolve => issuer.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = issuer.address() as AddressInfo;
      const config = {
        'id-token': token(1),
        'refresh-token': 'r0',
        'client-id': 'c d',
        'client-secret': 's',
        'idp-issuer-url': `http://127.0.0.1:${port}/realm/`,
      };
      const path = await kubeconfig({ 'auth-provider': { name: 'oidc', config } });
      const credentials = await loadCredentials({ kubeconfig: path });
      await Promise.all([credentials.prepare(), credentials.prepare()]);
      const { options } = await credentials.prepare();
      expect(options.headers).toEqual({ Authorization: `Bearer ${token(inAnHour)}` });
      const form = (n: number): string => `Basic ${base64('c%20d:s')} grant_type=refresh_token&refresh_token=r${n}`;
      expect(asked).toEqual([form(0), form(1)]);
    } finally {
      issuer.close();
    }
  });

  it('is asked for over TLS alone', async () => {
    const config = { 'id-token': token(1), 'refresh-token': 'r', 'idp-issuer-url': 'http://issuer.example' };
    const path = await kubeconfig({ 'auth-provider': { name: 'oidc', config } });
    await expect((await loadCredentials({ kubeconfig: path })).prepare()).rejects.toThrow(
      /issuer.example is not https/,
    );
  });
});
