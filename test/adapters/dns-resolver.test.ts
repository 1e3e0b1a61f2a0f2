// Questions on the wire: a DNS server of a few lines on loopback answers A and AAAA as a table says.

import { createSocket, type Socket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TTL_MS_MAX, TTL_MS_MIN } from '../../src/adapters/dns/limits.ts';
import { answerOf, dnsResolver, type Resolve } from '../../src/adapters/dns/resolver.ts';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NO_SUCH_NAME = 3;
const SERVER_FAILURE = 2;

interface Zone {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  readonly ttl?: number;
  readonly code?: number;
  /** The code for AAAA alone. */
  readonly code6?: number;
}
const zones: Readonly<Record<string, Zone>> = {
  'two.example.com': { a: ['192.0.2.2', '192.0.2.1'], aaaa: ['20010db8000000000000000000000001'], ttl: 300 },
  'brief.example.com': { a: ['192.0.2.1'], ttl: 1 },
  'empty.example.com': {},
  'broken.example.com': { code: SERVER_FAILURE },
  'half.example.com': { a: ['192.0.2.1'], code6: SERVER_FAILURE },
  'halfempty.example.com': { code6: SERVER_FAILURE },
};

let server: Socket;
let resolve: Resolve;

beforeAll(async () => {
  server = createSocket('udp4');
  server.on('message', (query, from) => server.send(replyTo(query), from.port, from.address));
  await new Promise<void>(bound => server.bind(0, '127.0.0.1', bound));
  resolve = dnsResolver([`127.0.0.1:${(server.address() as AddressInfo).port}`]);
});
afterAll(() => void server.close());

function replyTo(query: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  const zone = zones[labels.join('.')] ?? { code: NO_SUCH_NAME };
  const code = (type === TYPE_AAAA ? zone.code6 : undefined) ?? zone.code ?? 0;
  const texts = code !== 0 ? [] : ((type === TYPE_A ? zone.a : zone.aaaa) ?? []);
  const data = texts.map(text =>
    type === TYPE_A ? Buffer.from(text.split('.').map(Number)) : Buffer.from(text, 'hex'),
  );
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(data.length, 6);
  head.writeUInt32BE(0, 8);
  const records = data.map(bytes => {
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(zone.ttl ?? 60, 6);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([head, query.subarray(12, at + 5), ...records]);
}

describe('a name that DNS resolves', () => {
  it.each([
    [
      'has addresses of both families, sorted',
      'two',
      { addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'], ttlMs: 300_000 },
    ],
    ['has a minimum lifetime, however short its TTL', 'brief', { addresses: ['192.0.2.1'], ttlMs: TTL_MS_MIN }],
    ['may have no address', 'empty', { addresses: [], ttlMs: TTL_MS_MIN }],
    ['may not exist', 'nowhere', { addresses: [], ttlMs: TTL_MS_MIN }],
    ['whose server fails is unknown', 'broken', { failed: 'ESERVFAIL' }],
    ['keeps the known addresses if one family fails', 'half', { addresses: ['192.0.2.1'], ttlMs: TTL_MS_MIN }],
    ['is unknown if one family is empty and the other fails', 'halfempty', { failed: 'ESERVFAIL' }],
  ])('%s', async (_, name, answer) => {
    expect(await resolve(`${name}.example.com`)).toEqual(answer);
  });
  it('fails if it does not exist', async () => {
    expect(await resolve('a..b')).toHaveProperty('failed');
  });
  it('has a lifetime within bounds', () => {
    expect(answerOf([[{ address: '192.0.2.1', ttl: 999_999 }], []])).toHaveProperty('ttlMs', TTL_MS_MAX);
  });
});
