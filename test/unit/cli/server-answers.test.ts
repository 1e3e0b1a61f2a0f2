import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { completions } from '../../../src/cli/completion.ts';
import { explainCommand } from '../../../src/cli/explain.ts';
import { proxyConfigCommand } from '../../../src/cli/proxy-config.ts';
import { versionCommand } from '../../../src/cli/version.ts';
import { openSamples, type Samples } from '../../history/fixtures.ts';

let samples: Samples;
let server: Server;
let address: string;

beforeAll(async () => {
  samples = await openSamples('subset-outage');
  server = createServer(({ url }, response) => {
    response.end(url === '/version' ? '1.2.3-periplus-Clean\n' : JSON.stringify([{ proxy: 'web-1.shop' }]));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  samples.remove();
});
afterEach(() => vi.restoreAllMocks());

describe('a running control plane', () => {
  it('tells its version, which is plain text', async () => {
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await versionCommand().parseAsync(['--address', address, '-o', 'json'], { from: 'user' });
    expect(JSON.parse(written.mock.calls.map(([text]) => String(text)).join(''))).toMatchObject({
      server: '1.2.3-periplus-Clean',
    });
  });

  it('names its proxies to the completion of a shell', async () => {
    const root = new Command().addCommand(proxyConfigCommand());
    expect(await completions(root, ['proxy-config', 'cluster', '--address', address, 'web'])).toEqual(['web-1.shop']);
  });
});

describe('the completion of objects', () => {
  it('keeps the short kind that was typed', async () => {
    const root = new Command().addCommand(explainCommand());
    const journal = samples.path('subset-outage');
    const found = await completions(root, ['explain', 'object', '-j', journal, 'vs/shop/']);
    expect(found).toContain('vs/shop/reviews');
    expect(found.every(name => name.startsWith('vs/shop/'))).toBe(true);
  });
});
