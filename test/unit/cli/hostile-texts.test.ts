// Commands over journals, exports and files from elsewhere: what they print moves no cursor, and errors name the file.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/journal/open.ts';
import { periplus } from '../../history/running.ts';

const folder = mkdtempSync(join(tmpdir(), 'periplus-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HOSTILE = 'a\u001b[2J\u001b]0;x\u0007\u202eb';
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const ACTS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

const yaml = join(folder, 'mesh.yaml');
writeFileSync(
  yaml,
  `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
status: {podIP: 10.0.0.1, phase: Running}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: ${JSON.stringify(HOSTILE)}, namespace: shop}
spec: {hosts: [], http: [{name: ${JSON.stringify(HOSTILE)}}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: rule, namespace: shop}
spec: {host: ${JSON.stringify(HOSTILE)}}
`,
);

async function hostileJournal(): Promise<string> {
  const path = join(folder, 'names.db');
  const journal = await openJournal(path, { durability: 'off' });
  await journal.append([
    {
      source: 'file/Kubernetes',
      kind: 'Malformed',
      origin: { file: `${HOSTILE}\n999  1970-01-01`, line: 1, column: 1 },
      reasons: [HOSTILE],
    },
    { source: 'xds', kind: 'ProxyNacked', connection: HOSTILE, typeUrl: HOSTILE, message: HOSTILE },
  ]);
  await journal.close();
  return path;
}

describe('names that would act on a terminal', () => {
  it.each([
    ['generate', '-f', yaml],
    ['analyze', '-f', yaml],
    ['diff', '-f', yaml, '-o', 'github', '--journal', 'none'],
    ['proxy-config', 'cluster', HOSTILE, '--journal', yaml],
    [HOSTILE],
  ])('are only shown by %s', async (...args) => {
    const { out, err } = await periplus(...args);
    expect(out + err).not.toBe('');
    expect(out + err).not.toMatch(ACTS);
  });

  it('are one line of journal ls each', async () => {
    const { code, out } = await periplus('journal', 'ls', '--journal', await hostileJournal());
    expect(code).toBe(0);
    expect(out).not.toMatch(ACTS);
    expect(out.trimEnd().split('\n')).toHaveLength(3);
  });
});

describe('an export from elsewhere', () => {
  const header = `{"format":"periplus-journal","redacted":false,"start":{"hash":"${'0'.repeat(64)}","seq":0},"version":1}`;
  const imported = async (content: string | Buffer): Promise<string> => {
    const file = join(folder, 'given.jsonl');
    writeFileSync(file, content);
    const { code, err } = await periplus('journal', 'import', file, '--journal', join(folder, 'made.db'));
    expect(code).toBe(1);
    return err;
  };

  it('is refused if it is a pipe', async () => {
    const pipe = join(folder, 'pipe.jsonl');
    execFileSync('mkfifo', [pipe]);
    for (const args of [
      ['journal', 'import', pipe, '--journal', join(folder, 'x.db')],
      ['journal', 'ls', '-j', pipe],
    ]) {
      expect(await periplus(...args)).toMatchObject({
        code: 1,
        err: `periplus: ${pipe}: not a file; give another path\n`,
      });
    }
  });

  it('is refused with its name and the line if a line is nested too deep', async () => {
    const deep = `{"body":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}},"seq":1}`;
    const err = await imported(`${header}\n${deep}\n`);
    expect(err).toBe(`periplus: ${join(folder, 'given.jsonl')}: line 2: nested deeper than 1000 levels\n`);
  });

  it('is refused if it inflates to blank lines without end', async () => {
    const err = await imported(gzipSync(`${header}\n${'\n'.repeat(10_000_000)}`));
    expect(err).toContain('line 1002: more than 1000 lines are blank');
  });

  it('is refused if an event has a time that no date has', async () => {
    const err = await imported(`${header}\n{"body":{},"kind":"Synced","seq":1,"source":"x","time":9007199254740991}\n`);
    expect(err).toContain('line 2, seq 1: the time of seq 1 is missing or goes back');
  });
});
