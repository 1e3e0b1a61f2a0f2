// What the rig is made of: the official suite, its echo server and what stands in for nodes and controllers, built once
// from the module beside this file and kept in the user's cache under the hash of its sources.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { find, run } from '../kube/binaries.ts';

export const MODULE = join(import.meta.dirname, 'go');
const API = 'sigs.k8s.io/gateway-api';

export interface Programs {
  /** `go test -c` of the suite. */
  readonly suite: string;
  readonly rig: string;
  readonly echo: string;
  readonly meshEcho: string;
  /** Folder of the CustomResourceDefinitions of the experimental channel, which has all kinds. */
  readonly definitions: string;
}

/** Rejects with the reason if they cannot be built here. */
export async function programs(): Promise<Programs> {
  const go = find('go');
  if (go === undefined) throw new Error('there is no Go to build the conformance suite with');
  const cache = process.env.PERIPLUS_CACHE ?? join(homedir(), '.cache/periplus');
  const folder = join(cache, `gateway-api-${sourceHash()}`);
  if (!existsSync(folder)) {
    const part = `${folder}.${process.pid}`;
    mkdirSync(part, { recursive: true });
    process.stderr.write(
      'building the conformance suite of the Gateway API, which takes some minutes the first time\n',
    );
    const flags = ['-trimpath', '-buildvcs=false', '-ldflags', '-s -w'];
    const mains = ['./rig', './mesh-echo', `${API}/conformance/echo-basic`];
    await run(go, ['build', ...flags, '-o', `${part}/`, ...mains], MODULE);
    await run(go, ['test', '-c', ...flags, '-o', join(part, 'suite'), './suite'], MODULE);
    renameSync(part, folder);
  }
  const found = execFileSync(go, ['list', '-m', '-f', '{{.Dir}}', API], { cwd: MODULE, encoding: 'utf8' }).trim();
  return {
    suite: join(folder, 'suite'),
    rig: join(folder, 'rig'),
    echo: join(folder, 'echo-basic'),
    meshEcho: join(folder, 'mesh-echo'),
    definitions: join(found, 'config/crd/experimental'),
  };
}

function sourceHash(): string {
  const hash = createHash('sha256');
  const names = readdirSync(MODULE, { recursive: true, encoding: 'utf8' }).filter(name => /\.(go|mod|sum)$/.test(name));
  for (const name of names.sort()) hash.update(`${name}\n`).update(readFileSync(join(MODULE, name)));
  return hash.digest('hex').slice(0, 16);
}
