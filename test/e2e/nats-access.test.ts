// How a replica proves to NATS servers who it is, and they to it: TLS with certificates of both sides, user and
// password, nkey, and a JWT of an operator, before real servers.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { afterEach, describe, expect, it } from 'vitest';
import { NatsLink } from '../../src/replicas/nats/connection.ts';
import { JetStreamLog } from '../../src/replicas/nats/jetstream-log.ts';
import { Plane } from './kube/plane.ts';
import { until } from './kube/until.ts';
import { NatsCluster, natsOrSkip } from './nats/cluster.ts';
import { operated } from './nats/jwt.ts';
import { certify } from './openssl-certificates.ts';

const program = await natsOrSkip('the tests of credentials for NATS');
const MESH = 'access';

describe.runIf(program !== undefined)('a replica before a NATS server that asks who it is', () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'periplus-nats-access-'));
    closers.push(() => rmSync(made, { recursive: true, force: true }));
    return made;
  };
  const server = async (more: string): Promise<NatsCluster> => {
    const nats = await NatsCluster.begin(program ?? '', { nodes: 1, more });
    closers.push(() => nats.close());
    return nats;
  };
  const logOf = (nats: NatsCluster, credentialsFile: string) => {
    const said: string[] = [];
    const address = { servers: nats.servers.split(','), isTls: false, mesh: MESH };
    const link = new NatsLink({ address, name: 'test', credentialsFile, say: (_level, line) => void said.push(line) });
    closers.push(() => link.close());
    const log = new JetStreamLog({ link, mesh: MESH, replicas: 1 });
    const isOpen = async (): Promise<boolean> => (await log.prepare().catch(() => undefined)) !== undefined;
    return { said, isOpen };
  };
  const file = (text: string): string => {
    const path = join(folder(), 'credentials');
    writeFileSync(path, text);
    return path;
  };

  it('serves over TLS with a certificate and a password, and no other certificate is trusted', async () => {
    const certified = certify(folder());
    const { ca, serverCert, serverKey, clientCert, clientKey } = certified;
    const tls = `tls { cert_file: "${serverCert}", key_file: "${serverKey}", ca_file: "${ca}", verify: true }`;
    const nats = await server(`${tls}\nauthorization { user: periplus, password: "pass:word" }`);
    const home = folder();
    const shown = ['--journal-cert', clientCert, '--journal-cert-key', clientKey, '--journal-replicas', '1'];
    const access = [...shown, '--journal-credentials', file('periplus:pass:word\n')];
    const address = `tls://${nats.servers}/${MESH}`;
    const plane = await Plane.serve([
      ...['--journal', address, '--journal-ca', ca, ...access, '--configDir', home],
      ...['--journal-mirror', join(home, 'mirror.db'), '--journalKey', join(home, 'key'), '--replica-id', 'one'],
    ]);
    closers.push(() => plane.end('SIGKILL'));
    await plane.ready();
    expect((await plane.page('/debug/replicasz')).text).toContain('"term"');
    const out = ['journal', 'move', address, join(home, 'out.db'), '--journalKey', join(home, 'key')];
    const moved = await Plane.run(...out, '--journal-ca', ca, ...access);
    expect(moved).toMatchObject({ code: 0 });
    const foreign = certify(folder());
    let tries = 0;
    // On a loaded machine the command may give up before it has been answered.
    await until('the refusal of a certificate of another authority', async () => {
      const elsewhere = [...out.slice(0, 3), join(home, `other-${++tries}.db`), ...out.slice(4)];
      const refused = await Plane.run(...elsewhere, '--journal-ca', foreign.ca, ...access);
      expect(refused.code).not.toBe(0);
      return /self-signed certificate|unable to verify/.test(refused.said);
    });
  });

  it('is let in with the password that the file has now, also after it was exchanged', async () => {
    const users = (password: string): string => `authorization { user: periplus, password: "${password}" }`;
    const nats = await server(users('first'));
    const path = file('periplus:first');
    const { isOpen, said } = logOf(nats, path);
    await until('the stream', isOpen);
    await nats.kill(0);
    nats.configure(users('second'));
    nats.start(0);
    await until('a refusal of the old password', () => said.some(line => /authorization violation/i.test(line)));
    writeFileSync(path, 'periplus:second');
    await until('the stream, with the new password', isOpen);
    for (const line of said) expect(line).not.toMatch(/first|second/);
  });

  it('is let in with an nkey', async () => {
    const user = nkeys.createUser();
    const nats = await server(`authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`);
    const { isOpen } = logOf(nats, file(Buffer.from(user.getSeed()).toString('utf8')));
    await until('the stream', isOpen);
  });

  it('is let in with the .creds of an operator, and not with those of another', async () => {
    const [ours, theirs] = [operated(), operated()];
    const nats = await server(ours.config);
    const { isOpen } = logOf(nats, file(ours.credentials));
    await until('the stream', isOpen);
    const other = logOf(nats, file(theirs.credentials));
    await until('a refusal', async () => {
      expect(await other.isOpen()).toBe(false);
      return other.said.some(line => /authorization violation/i.test(line));
    });
  });
});
