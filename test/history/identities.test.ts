// `periplus identities` and `explain certificate` on a journal of audit facts.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/core/model/caller.ts';
import { openJournal } from '../../src/journal/open.ts';
import { periplus } from './running.ts';

const START = Date.UTC(2026, 0, 5, 10);
const HOUR_MS = 3_600_000;
const web = 'spiffe://cluster.local/ns/shop/sa/web';
const agent = 'spiffe://cluster.local/ns/istio-system/sa/ztunnel';
const callerOf = (identity: string, pod: string): Caller => ({
  identities: [identity],
  proof: { how: 'token', by: 'review', cluster: 'Kubernetes', pod: { name: pod, uid: 'u' } },
});

let folder: string;
let journal: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'periplus-identities-'));
  journal = join(folder, 'journal.db');
  let now = START;
  const opened = await openJournal(journal, { clock: () => now, durability: 'off' });
  const issued = (serial: string, notAfter: number) =>
    ({
      source: 'identity',
      kind: 'CertificateIssued',
      identities: [web],
      caller: callerOf(web, 'web-1'),
      serial,
      notAfter,
      keyDigest: 'd'.repeat(64),
    }) as const;
  await opened.append([issued('aa', START + HOUR_MS)]);
  now += 2 * HOUR_MS;
  await opened.append([issued('bb', START + 24 * HOUR_MS)]);
  const refused = { source: 'identity', kind: 'CertificateRefused' } as const;
  await opened.append([
    {
      ...refused,
      caller: callerOf(web, 'web-1'),
      code: 'INVALID_ARGUMENT',
      reason: 'requested TTL 2400h0m0s is greater than the max allowed TTL 2160h0m0s',
    },
    {
      ...refused,
      caller: callerOf(agent, 'ztunnel-x'),
      impersonated: 'spiffe://cluster.local/ns/bank/sa/teller',
      code: 'UNAUTHENTICATED',
      reason: 'no pod of bank/teller runs on node n1',
    },
  ]);
  await opened.close();
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...args: readonly string[]) => periplus(...args, '-j', journal);

describe('periplus identities', () => {
  it('lists the certificates that had not expired, and at a time before those of then', async () => {
    const now = await run('identities');
    expect(now.out).toContain(' bb ');
    expect(now.out).not.toContain(' aa ');
    expect(now.out).toContain('token of Kubernetes, pod web-1');
    const before = await run('identities', '--at', '1');
    expect(before.out).toContain(' aa ');
    expect(before.out).not.toContain(' bb ');
    expect((await run('identities', '--expired')).out).toMatch(/ aa [\s\S]* bb /);
  });

  it('lists nothing of others, and says that there is nothing', async () => {
    expect((await run('identities', 'teller')).out).toBe('no certificate was held\n');
    const found = JSON.parse((await run('identities', 'sa/web', '-o', 'json')).out) as readonly object[];
    expect(found).toMatchObject([{ identities: [web], serial: 'bb', notAfter: START + 24 * HOUR_MS }]);
  });

  it('lists refusals with their reason', async () => {
    const { out } = await run('identities', '--refused');
    expect(out).toContain('max allowed TTL');
    expect(out).toContain('no pod of bank/teller runs on node n1');
  });
});

describe('periplus explain certificate', () => {
  it('says why a request was refused, what the agent does then, and what is held', async () => {
    const { code, out } = await run('explain', 'certificate', 'sa/web');
    expect(code).toBe(0);
    expect(out).toContain('INVALID_ARGUMENT: requested TTL');
    expect(out).toContain('fails again');
    expect(out).toContain('serial bb');
  });

  it('finds a request by the identity that was asked for', async () => {
    const { code, out } = await run('explain', 'certificate', 'bank/sa/teller');
    expect(code).toBe(0);
    expect(out).toContain(`asked by ${agent}`);
  });

  it('fails where nothing was refused', async () => {
    const { code, out } = await run('explain', 'certificate', 'sa/other');
    expect(code).toBe(1);
    expect(out).toContain('no signing request of sa/other was refused');
  });
});
