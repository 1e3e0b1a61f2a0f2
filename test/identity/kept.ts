// Everything that a control plane writes or shows, for tests that look for keys and tokens in it: each file but the
// authority's own, what the journal tells when it is read (it compresses and seals), its snapshot, log, debug pages,
// metrics, and the explorer's answers. Pages are taken from the list of the control plane, so a new one is looked at.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openJournal } from '../../src/journal/open.ts';
import type { TestPlane } from './plane.ts';

/** Artefact → its text, of one character a byte. */
export type Artefacts = ReadonlyMap<string, string>;

const EXPLORED = ['info', 'events?limit=1000', 'objects', 'proxies'];

interface Where {
  /** The files that hold keys by right, by the end of their path or folder. */
  readonly own?: readonly string[];
  /** Asks the explorer too, whose thread takes seconds to start. */
  readonly explorer?: true;
}

/** Stops the control plane. */
export async function artefactsOf(tested: TestPlane, { own = [], explorer }: Where = {}): Promise<Artefacts> {
  const found = new Map<string, string>();
  const { plane, folder, lines } = tested;
  const { http, monitoring } = plane.ports;
  const ask = async (port: number | undefined, path: string): Promise<string> => {
    const body = await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    found.set(path, body);
    return body;
  };
  const names = JSON.parse(await ask(http, '/debug/list')) as readonly string[];
  const proxies = plane.xds.connections().map(({ connection }) => connection);
  for (const name of names) {
    await ask(http, `/debug/${name}`);
    for (const proxy of proxies) await ask(http, `/debug/${name}?proxyID=${encodeURIComponent(proxy)}`);
  }
  await ask(monitoring, '/metrics');
  if (explorer) {
    for (const path of EXPLORED) await ask(http, `/api/v1/${path}`);
    for (const proxy of proxies) await ask(http, `/api/v1/proxy/raw?type=SDS&proxy=${encodeURIComponent(proxy)}`);
  }
  await plane.stop();
  found.set('log', lines.join('\n'));
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (!file.isFile() || own.some(name => [path, file.parentPath].some(at => at.endsWith(`/${name}`)))) continue;
    found.set(path, await readFile(path, 'latin1'));
  }
  const journal = await openJournal(join(folder, 'journal.db'), { readonly: true });
  const events: string[] = [];
  for await (const batch of journal.read({ from: 1 })) events.push(...batch.map(event => JSON.stringify(event)));
  found.set('events', events.join('\n'));
  const facts: string[] = [];
  for await (const batch of (await journal.snapshots.read())?.facts ?? []) facts.push(JSON.stringify(batch));
  found.set('snapshot', facts.join('\n'));
  await journal.close();
  return found;
}

/** Fails if a part of a key (PEM) or a token is in any of the artefacts; its message does not repeat it. */
export function expectNone(
  artefacts: Artefacts,
  secrets: { readonly keys: readonly string[]; readonly tokens: readonly string[] },
): void {
  const needles = [...secrets.keys.flatMap(partsOf), ...secrets.tokens];
  expect(needles.every(needle => needle.length > MIDDLE_BYTES - 1)).toBe(true);
  const holding = [...artefacts].filter(([, text]) => needles.some(needle => text.includes(needle)));
  expect(holding.map(([name]) => name)).toEqual([]);
}

const MIDDLE_BYTES = 24;

/** A long line from the middle of a PEM, and its bytes as other encodings would have them. */
function partsOf(pem: string): readonly string[] {
  const body = pem.split('\n').filter(line => line !== '' && !line.startsWith('-----'));
  const der = Buffer.from(body.join(''), 'base64');
  const from = Math.floor(der.length / 3);
  const middle = der.subarray(from, from + MIDDLE_BYTES);
  return [body[1] ?? body[0]!, middle.toString('hex'), middle.toString('latin1'), der.toString('base64').slice(40, 90)];
}
