// Helm, built once from its Go module and kept in the user's cache. Needs Go. A missing binary is named;
// PERIPLUS_REQUIRE_ALL=1 makes it a failure.

import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { find, run } from '../kube/binaries.ts';

const VERSION = 'v3.18.4';
/** What Helm takes for the version of a cluster that it does not ask; the build of its releases sets it likewise. */
const KUBE = 'helm.sh/helm/v3/pkg/chartutil';
const LDFLAGS = `-s -w -X ${KUBE}.k8sVersionMajor=1 -X ${KUBE}.k8sVersionMinor=33`;

export async function helmOrSkip(): Promise<string | undefined> {
  try {
    return await helm();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (process.env.PERIPLUS_REQUIRE_ALL === '1') throw new Error(`Helm is required: ${why}`);
    console.warn(`NOT RUN: the tests of the chart: ${why}`);
    return undefined;
  }
}

async function helm(): Promise<string> {
  const folder = process.env.PERIPLUS_CACHE ?? join(homedir(), '.cache/periplus');
  const binary = join(folder, `helm-${VERSION}`);
  if (existsSync(binary)) return binary;
  const go = find('go');
  if (go === undefined) throw new Error('there is no Go to build Helm with');
  mkdirSync(folder, { recursive: true });
  const made = await mkdtemp(join(folder, 'helm-build-'));
  process.stderr.write('building Helm, which takes some minutes the first time\n');
  try {
    const args = ['install', '-trimpath', '-ldflags', LDFLAGS, `helm.sh/helm/v3/cmd/helm@${VERSION}`];
    await run(go, args, made, { GOBIN: made });
    renameSync(join(made, 'helm'), binary);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return binary;
}
