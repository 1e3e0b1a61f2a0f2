// The secure port on addresses of both families, as pods of dual-stack clusters reach it: `:15012` answers on either,
// `[::1]:15012` on one. Peers are known by their address, whichever family wrote it.

import { networkInterfaces } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { signingRequest } from '../unit/identity/signing-request.ts';
import { TestClient } from './client.ts';
import { type TestPlane, testPlane } from './plane.ts';

const hasIpv6 = Object.values(networkInterfaces()).some(list => list?.some(({ address }) => address === '::1'));
if (!hasIpv6) process.stderr.write('test/identity/addresses.test.ts did NOT run on IPv6: there is no ::1\n');
const START_MS_MAX = 60_000;

describe('the secure port', () => {
  const planes: TestPlane[] = [];
  afterAll(async () => {
    for (const plane of planes) await plane.stop();
  });

  async function signedAt(plane: TestPlane, host: string): Promise<readonly string[] | string> {
    const token = plane.tokens.token('a/alice');
    const { secureGrpc = 0 } = plane.plane.ports;
    const client = new TestClient({ port: secureGrpc, roots: plane.roots(), token, host });
    try {
      return await client.sign((await signingRequest()).pem, { deadlineMs: START_MS_MAX });
    } finally {
      client.close();
    }
  }

  it.runIf(hasIpv6)(
    'without a host answers on IPv4 and IPv6',
    async () => {
      const plane = await testPlane({ identity: { secureGrpcAddr: { host: '', port: 0 } } });
      planes.push(plane);
      expect(await signedAt(plane, '127.0.0.1')).toHaveLength(2);
      expect(await signedAt(plane, '[::1]')).toHaveLength(2);
    },
    START_MS_MAX * 3,
  );

  it.runIf(hasIpv6)(
    'at an IPv6 address answers there alone',
    async () => {
      const plane = await testPlane({ identity: { secureGrpcAddr: { host: '::1', port: 0 } } });
      planes.push(plane);
      expect(await signedAt(plane, '[::1]')).toHaveLength(2);
      expect(await signedAt(plane, '127.0.0.1')).toMatch(/^14 /);
    },
    START_MS_MAX * 3,
  );
});
