// How a key set is fetched: over real sockets on loopback, with redirects, limits of size and time, and addresses that
// are refused.

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rangesOf, whyBlocked } from '../../src/adapters/jwks/blocked-addresses.ts';
import { httpFetch } from '../../src/adapters/jwks/fetch.ts';
import { BODY_BYTES_MAX } from '../../src/adapters/jwks/limits.ts';

const open = { blocked: [], allowLocal: true };
const fetch = httpFetch({ addresses: open, insecure: false });
const TIME_MS = 5_000;
let server: Server;
let base = '';

const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/keys': response => response.end('{"keys":[]}'),
  '/moved': response => response.writeHead(302, { location: '/keys' }).end(),
  '/round': response => response.writeHead(302, { location: '/round' }).end(),
  '/away': response => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
  '/gone': response => response.writeHead(404).end(),
  '/large': response => response.end(Buffer.alloc(BODY_BYTES_MAX + 1, 32)),
  '/silent': () => undefined,
};

beforeAll(async () => {
  server = createServer((request, response) => answers[request.url ?? '']?.(response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('a key set is fetched', () => {
  it.each(['/keys', '/moved'])('from the address %s', async path => {
    expect(await fetch(base + path, TIME_MS)).toEqual({ body: '{"keys":[]}' });
  });
  it.each([
    ['/round', 'more than 10 redirects'],
    ['/gone', 'status 404'],
    ['/large', `the answer is larger than ${BODY_BYTES_MAX} bytes`],
  ])('not from the address %s', async (path, failed) => {
    expect(await fetch(base + path, TIME_MS)).toEqual({ failed });
  });
  it('not from a server that does not answer', async () => {
    expect(await fetch(`${base}/silent`, 100)).toEqual({ failed: 'no answer within 100 ms' });
  });
  it.each(['ftp://a/b', 'keys', ''])('not from the response %j', async uri => {
    expect(await fetch(uri, TIME_MS)).toEqual({ failed: 'not an http(s) URL' });
  });
});

describe('GHSA-fgw5-hp8f-xfhc: an address that is blocked is never connected to', () => {
  const strict = httpFetch({ addresses: { blocked: [], allowLocal: false }, insecure: false });
  it('given as a number', async () => {
    expect(await strict(`${base}/keys`, TIME_MS)).toEqual({ failed: '127.0.0.1 is a local address' });
  });
  it('given as a name that resolves to it', async () => {
    const { failed } = (await strict(base.replace('127.0.0.1', 'localhost'), TIME_MS)) as { readonly failed: string };
    expect(failed).toContain('is a local address');
  });
  it('reached by a redirect', async () => {
    const noMetadata = httpFetch({ addresses: { blocked: ['169.254.0.0/16'], allowLocal: true }, insecure: false });
    expect(await noMetadata(`${base}/away`, TIME_MS)).toEqual({
      failed: '169.254.169.254 is in 169.254.0.0/16, which BLOCKED_CIDRS_IN_JWKS_URIS names',
    });
  });
  it.each(['127.0.0.1', '::1', '169.254.169.254', 'fe80::1', '::ffff:127.0.0.1', '0.0.0.0'])('such as %s', address => {
    expect(whyBlocked(address, { blocked: [], allowLocal: false })).toBeDefined();
  });
  it.each(['10.0.0.1', '192.0.2.1', '2001:db8::1'])('unlike %s, which is public', address => {
    expect(whyBlocked(address, { blocked: [], allowLocal: false })).toBeUndefined();
  });
  it('unless its range cannot be parsed, which is an error', () => {
    expect(rangesOf('10.0.0.0/8, x,::/0,')).toEqual({ ranges: ['10.0.0.0/8', '::/0'], bad: ['x'] });
  });
});
