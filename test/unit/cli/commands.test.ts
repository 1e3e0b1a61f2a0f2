// The commands as users call them: help, exit codes that scripts can use, and the three forms of output.

import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { program } from '../../../src/cli/program.ts';
import type { Json } from '../../../src/core/base/json.ts';
import { openJournal } from '../../../src/journal/open.ts';
import { openSamples, type Samples } from '../../history/fixtures.ts';
import { periplus } from '../../history/running.ts';

let samples: Samples;
let journal: string;
beforeAll(async () => {
  samples = await openSamples('bookinfo-day', 'subset-outage');
  journal = samples.path('bookinfo-day');
});
afterAll(() => samples.remove());

/** They are started with istiod's flags, of which they pass over those that they do not have. */
const TOLERANT: readonly string[] = ['serve', 'record'];

const whole = await program();

/** Every command, also those below others, by the words that call it. */
function commands(parent: Command = whole, words: readonly string[] = []): readonly (readonly string[])[] {
  // What completion scripts call is no command for people.
  return parent.commands
    .filter(child => child.name() !== 'complete')
    .flatMap(child => {
      const path = [...words, child.name()];
      return child.commands.length === 0 ? [path] : commands(child, path);
    });
}

describe('every command', () => {
  test.each(commands().map(words => [words.join(' '), words] as const))('%s has help', async (_, words) => {
    const { code, out, err } = await periplus(...words, '--help');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`Usage: periplus ${words.join(' ')}`);
    expect(out).toContain('Options:');
  });
  const strict = commands().filter(([name]) => !TOLERANT.includes(name!));
  test.each(strict.map(words => [words.join(' '), words] as const))(
    '%s refuses an unknown option',
    async (_, words) => {
      const { code, err } = await periplus(...words, '--nonsense');
      expect(code).toBe(2);
      expect(err).toMatch(/--nonsense|required option/);
    },
  );
  test.each([
    ['serve', '--grpcAddr', 'nonsense'],
    ['serve', '--shutdownDuration', 'x'],
    ['serve', '--drainDuration', 'x'],
    ['serve', '--journalDurability', 'x'],
    ['record', '--journalDurability', 'x'],
    ['serve', '--registries', 'Eureka'],
    ['record', '--registries', 'Kubernetes,Eureka'],
  ])('%s refuses the arguments %s %s', async (...words) => {
    const { code, err } = await periplus(...words);
    expect([code, err.startsWith(`periplus: ${words[1]} ${words[2]}`)]).toEqual([2, true]);
  });
  /** They print what is to be read by others as it is, or serve. */
  const silent = ['serve', 'record', 'demo', 'completion', 'request', 'ui', 'journal export'];
  const reporting = commands().filter(words => !silent.includes(words.join(' ')));
  test.each(reporting.map(words => [words.join(' '), words] as const))(
    '%s reports as JSON and YAML',
    async (_, words) => {
      const { out } = await periplus(...words, '--help');
      expect(out.replace(/\s+/g, ' ')).toMatch(/-o, --output <format> [^(]*json[^(]*/);
      expect(out.replace(/\s+/g, ' ')).toMatch(/-o, --output <format> [^(]*yaml[^(]*/);
    },
  );
  test('the program has help and a version, and refuses an unknown command', async () => {
    const help = await periplus('--help');
    for (const [name] of commands()) expect(help.out).toContain(name);
    expect((await periplus('--version')).out).toMatch(/^\d+\.\d+\.\d+/);
    expect((await periplus('nonsense')).code).toBe(2);
  });
});

describe('serve', () => {
  test('names an address in use in a single line', async () => {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const others = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const anywhere = [
      '--httpAddr',
      '127.0.0.1:0',
      '--monitoringAddr',
      '127.0.0.1:0',
      '--secureGrpcAddr',
      '',
      '--configDir',
      samples.folder,
    ];
    const own = ['--journal', join(samples.folder, 'taken.db'), '--log_output_level', 'none'];
    const { code, err } = await periplus('serve', '--grpcAddr', `127.0.0.1:${port}`, ...anywhere, ...own);
    expect(code).toBe(1);
    expect(err).toMatch(/^periplus: --grpcAddr .* is another control plane running\?\n$/);
    expect(others).not.toHaveBeenCalled();
    others.mockRestore();
    await new Promise(resolve => server.close(resolve));
  });
});

describe('journal', () => {
  const ls = (...more: readonly string[]) => periplus('journal', 'ls', '-j', journal, ...more);
  test('ls prints the same as table, JSON and YAML', async () => {
    const table = await ls('--tail', '3');
    expect(table.out.split('\n')[0]).toMatch(/^SEQ +TIME +SOURCE +KIND +WHAT$/);
    expect(table.out.trimEnd().split('\n')).toHaveLength(4);
    const json = JSON.parse((await ls('--tail', '3', '-o', 'json')).out) as readonly Json[];
    expect(json).toHaveLength(3);
    expect(parse((await ls('--tail', '3', '-o', 'yaml')).out)).toEqual(json);
  });
  test('ls prints a range, and one kind', async () => {
    const seqs = async (...more: readonly string[]): Promise<readonly unknown[]> =>
      (JSON.parse((await ls('-o', 'json', ...more)).out) as readonly { readonly seq: number }[]).map(({ seq }) => seq);
    expect(await seqs('--from', '2', '--to', '4')).toEqual([2, 3, 4]);
    expect(await seqs('--from', '4', '--to', '2')).toEqual([]);
    expect((await ls('--kind', 'Updat')).err).toContain('no such kind of fact; nearest: Update');
    expect((await seqs('--kind', 'Add')).length).toBeGreaterThan(0);
  });
  test('show prints one event, or names the missing one', async () => {
    const { code, out } = await periplus('journal', 'show', '1', '-j', journal, '-o', 'json');
    expect([code, (JSON.parse(out) as { readonly seq: number }).seq]).toEqual([0, 1]);
    const none = await periplus('journal', 'show', '999999', '-j', journal);
    expect([none.code, none.out]).toEqual([1, '']);
    expect(none.err).toContain('there is no event 999999');
  });
  test('verify accepts a sound journal', async () => {
    const { code, out } = await periplus('journal', 'verify', '-j', journal, '-o', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true });
  });
  test.each([
    ['-o', 'xml'],
    ['--from', 'x'],
    ['--tail', '-1'],
  ])('refuses the arguments %s %s', async (option, value) => {
    const { code, err } = await ls(option, value);
    expect([code, err.startsWith('periplus: ')]).toEqual([2, true]);
  });
  test('a missing file and a foreign file are refused by name', async () => {
    const missing = await periplus('journal', 'ls', '-j', join(samples.folder, 'none.db'));
    expect([missing.code, missing.err.includes('none.db')]).toEqual([1, true]);
    const none = await periplus('journal', 'ls', '-j', import.meta.filename);
    expect(none.code).toBe(1);
    expect(none.err).not.toContain('unexpected failure');
  });
  test('import names a missing file', async () => {
    const none = join(samples.folder, 'none.jsonl');
    const { code, err } = await periplus('journal', 'import', none, '-j', join(samples.folder, 'made.db'));
    expect([code, err]).toEqual([1, `periplus: ${none}: no such file or directory\n`]);
  });
  test('reproduces a journal by export and import', async () => {
    const { code, out } = await periplus('journal', 'export', '-j', journal);
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n').length).toBeGreaterThan(10);
  });
});

describe('replay', () => {
  test('reproduces every response', async () => {
    const path = samples.path('subset-outage');
    const { code, out } = await periplus('replay', '-j', path, '--verify', '-o', 'json');
    expect([code, JSON.parse(out)]).toMatchObject([0, { different: 0, failures: [] }]);
    expect((await periplus('replay', '-j', path, '--verify')).out).toContain('reproduced byte for byte');
    expect((await periplus('replay', '-j', path, '--to', '5')).out).toMatch(
      /^folded 5 events up to 5; state [0-9a-f]{64}\n$/,
    );
  });
  test('fails on a receipt that no state gives, and names it', async () => {
    const own = await openSamples('subset-outage');
    const path = own.path('subset-outage');
    const opened = await openJournal(path, { clock: () => 4_000_000_000_000 });
    const typeUrl = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
    const stateSeq = opened.head().seq;
    await opened.append([
      { source: 'xds', kind: 'Receipt', connections: ['nobody'], typeUrl, stateSeq, digest: 'd', count: 1 },
    ]);
    await opened.close();
    const { code, out } = await periplus('replay', '-j', path, '--verify');
    expect(code).toBe(1);
    expect(out).toContain('came out DIFFERENT');
    expect(out).toContain(`receipt ${stateSeq + 1}: nobody ${typeUrl}`);
    own.remove();
  });
});

describe('proxy-status', () => {
  let server: Server;
  let body: Json = [];
  let status = 200;
  const ask = (...more: readonly string[]) =>
    periplus('proxy-status', '--address', `127.0.0.1:${(server.address() as AddressInfo).port}`, ...more);
  const type = (sync: string, rest: object = {}): Json => ({ status: sync, resources: 1, ...rest }) as Json;
  beforeAll(async () => {
    server = createServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise(resolve => server.close(resolve)));

  test('prints a row for each proxy, and refusals with the objects behind them', async () => {
    const refused = type('ERROR', { lastError: 'no such cluster', objects: ['VirtualService/a/b'] });
    body = [
      {
        proxy: 'web.default',
        cluster_id: 'c',
        protocol: 'delta',
        istio_version: '1.30.3',
        types: { CDS: type('SYNCED'), LDS: refused, EDS: type('NOT_SENT') },
      },
    ];
    const { code, out } = await ask();
    expect(code).toBe(0);
    expect(out.split('\n')[1]).toMatch(/^web\.default +c +SYNCED +ERROR +NOT SENT +- +- +- +- +delta +1\.30\.3$/);
    expect(out).toContain('web.default refused LDS: no such cluster\n  made from: VirtualService/a/b\n');
    expect(JSON.parse((await ask('-o', 'json')).out)).toEqual(body);
    const none = await ask('webb');
    expect([none.code, none.err]).toEqual([
      1,
      'periplus: no proxy webb is connected; nearest: web.default; connected: 1\n',
    ]);
  });
  test('reports that no proxy is connected', async () => {
    body = [];
    expect((await ask()).out).toBe('no proxy is connected\n');
  });
  test('names an answer that is not JSON of ours', async () => {
    body = {};
    expect((await ask()).err).toMatch(/not .*a list/);
    status = 403;
    body = 'not for you';
    // The server's own words.
    expect(await ask()).toMatchObject({ code: 1, err: 'periplus: "not for you"\n' });
    status = 200;
  });
  test('names the address when no control plane answers', async () => {
    const { code, err } = await periplus('ps', '--address', '127.0.0.1:1');
    expect(code).toBe(1);
    expect(err).toContain('no control plane answers at 127.0.0.1:1');
  });
});

describe('analyze', () => {
  const config = join(import.meta.dirname, '../../../samples/bookinfo/config');
  test('lists findings of files, with an exit code by severity', async () => {
    const { code, out } = await periplus('analyze', '-f', config, '-o', 'json');
    expect(code).toBe(0);
    const findings = JSON.parse(out) as readonly { readonly code: string; readonly level: string }[];
    expect(findings.map(({ code, level }) => `${level} ${code}`)).toEqual(['Warning IST0162', 'Info IST0102']);
    expect((await periplus('analyze', '-f', config, '--fail-on', 'warning')).code).toBe(1);
    const { out: table, err } = await periplus('analyze', config, '-o', 'table');
    expect(table).toMatch(/^LEVEL +CODE +OBJECT +WHERE +MESSAGE\n/);
    expect(err).toContain('24 objects in 5 files: 1 warning, 1 note');
  });
  test('prints line and column of a mistake in a file', async () => {
    const file = join(samples.folder, 'wrong.yaml');
    writeFileSync(
      file,
      `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: v, namespace: x}
spec:
  hosts: [a]
  http:
    - timeout: soon
      route: [{destination: {host: a, port: {number: "80"}}}]
---
{apiVersion: v1, kind: Node, metadata: {name: UPPER}}
---
- no object
`,
    );
    const { code, out } = await periplus('analyze', '-f', file, '-o', 'json');
    expect(code).toBe(1);
    const findings = JSON.parse(out) as readonly { readonly reference: string; readonly message: string }[];
    expect(findings.map(({ reference, message }) => `${reference} ${message}`)).toEqual([
      expect.stringMatching(/wrong\.yaml:10:41 Schema validation error: metadata\.name: /),
      expect.stringMatching(
        /wrong\.yaml:8:46 Schema validation error: spec\.http\[0\]\.route\[0\]\.destination\.port\.number: /,
      ),
      expect.stringMatching(/wrong\.yaml:7:7 Schema validation error: spec\.http\[0\]\.timeout: /),
      expect.stringMatching(/wrong\.yaml:11:1 expected a Kubernetes object/),
    ]);
  });
  test('notes kinds of other projects', async () => {
    const file = join(samples.folder, 'foreign.yaml');
    writeFileSync(file, 'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c}\n');
    const { code, out } = await periplus('analyze', '-f', file, '-o', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject([{ level: 'Info', code: 'PER0003' }]);
    expect((await periplus('analyze', '-f', file, '--fail-on', 'info')).code).toBe(1);
  });
  test('lists findings of a journal at a position', async () => {
    const path = samples.path('bookinfo-day');
    const { code, out, err } = await periplus('analyze', '-j', path, '--at', '1');
    expect([code, out]).toEqual([0, '']);
    expect(err).toContain('0 objects at event 1');
    expect((await periplus('analyze', '-j', path, '-o', 'yaml', '--fail-on', 'none')).code).toBe(0);
  });
  test.each([
    [[], 'give the objects'],
    [['-f', config, '-j', 'x.db'], 'give the objects'],
    [['-f', config, '--at', '1'], '--at is a position of a journal'],
    [['-f', config, '--fail-on', 'x'], '--fail-on x'],
  ])('refuses the arguments %j', async (args, words) => {
    const { code, err } = await periplus('analyze', ...args);
    expect(code).toBe(2);
    expect(err).toContain(words);
  });
  test('names a missing folder', async () => {
    const { code, err } = await periplus('analyze', '-f', 'nowhere');
    expect([code, err]).toEqual([1, 'periplus: nowhere: no such file or folder\n']);
  });
});
