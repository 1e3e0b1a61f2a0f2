// `npm start`: the Bookinfo sample on this machine's loopback. The sample is copied (ports that are taken are
// replaced), served by a control plane with its journal, called through two real Envoys: an ingress gateway and
// productpage's sidecar. Without pip there are no Envoys; the control plane runs all the same and says so.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject, type JsonObject } from '../core/base/json.ts';
import { defaultSettings } from '../core/mesh/settings.ts';
import { JournalFault } from '../journal/fault.ts';
import { openJournal } from '../journal/open.ts';
import { singleDocument } from '../offline/generate.ts';
import { systemClock } from '../runtime/clock.ts';
import { type ControlPlane, startControlPlane } from '../runtime/control-plane.ts';
import { type Log, makeLog } from '../runtime/log.ts';
import { type Backends, startBackends } from './backends.ts';
import { type Envoy, findEnvoy, startEnvoy } from './envoy.ts';
import { freePorts, isFree, replacePorts } from './ports.ts';

const SAMPLE = fileURLToPath(new URL('../../samples/bookinfo', import.meta.url));

/** Ports in the files of the sample: gateway, egress listener, backends. */
const PORTS = {
  gateway: 28080,
  egress: 9080,
  productpage: 29081,
  details: 29082,
  reviews: 29083,
  ratings: 29084,
} as const;

const PAGE_MS_MAX = 15_000;

export interface DemoOptions {
  readonly folder: string;
  readonly fresh: boolean;
}

export interface Demo {
  readonly plane: ControlPlane;
  readonly envoys: readonly Envoy[];
  /** Why there are no Envoys. */
  readonly missing?: string;
  /** The copy of the sample. */
  readonly sample: string;
  /** The folder of it that is served. */
  readonly config: string;
  readonly journal: string;
  /** http://127.0.0.1:PORT of the gateway. */
  readonly gateway: string;
  stop(): Promise<void>;
}

/** Runs until SIGTERM or SIGINT. */
export async function runDemo(
  options: DemoOptions,
  say: (line: string) => void,
  write: (line: string) => void,
): Promise<void> {
  const log = makeLog({
    level: 'warn',
    json: false,
    clock: systemClock,
    write,
  });
  const signal = stopped();
  const demo = await startDemo(options, log, say);
  await introduce(demo, say);
  await signal;
  say('stopping');
  await demo.stop();
}

function stopped(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

/** Rejects if a part other than the Envoys does not start, and stops the started parts. */
async function startDemo(options: DemoOptions, log: Log, say: (line: string) => void): Promise<Demo> {
  const sample = join(options.folder, 'bookinfo');
  const config = join(sample, 'config');
  const journal = join(options.folder, 'journal.db');
  await mkdir(options.folder, { recursive: true });
  await refuseSecond(journal);
  if (options.fresh) await rm(options.folder, { recursive: true, force: true });
  const chosen = await freePorts(Object.values(PORTS));
  await copySample(sample, chosen);
  const port = (name: keyof typeof PORTS): number => chosen.get(PORTS[name]) ?? PORTS[name];
  const backends = await startBackends(
    {
      productpage: port('productpage'),
      details: port('details'),
      reviews: port('reviews'),
      ratings: port('ratings'),
    },
    port('egress'),
    say,
  );
  let plane: ControlPlane | undefined;
  try {
    plane = await startPlane(sample, journal, log);
    say(`explorer       http://127.0.0.1:${plane.ports.monitoring}/ui/`);
    const { envoys, missing } = await startEnvoys(sample, plane.ports.grpc, say);
    const gateway = `http://127.0.0.1:${port('gateway')}`;
    return { plane, envoys, missing, sample, config, journal, gateway, stop: () => stopAll(envoys, plane, backends) };
  } catch (error) {
    await stopAll([], plane, backends);
    throw error;
  }
}

/** Rejects if a demo runs in the folder: it would be served the files that are written here, with other ports. */
async function refuseSecond(journal: string): Promise<void> {
  try {
    const opened = await openJournal(journal, { clock: systemClock.now });
    await opened.close();
  } catch (error) {
    // What else may be wrong with it is found when it is served, or goes with `fresh`.
    if (error instanceof JournalFault && error.code === 'locked') throw error;
  }
}

async function stopAll(envoys: readonly Envoy[], plane: ControlPlane | undefined, backends: Backends): Promise<void> {
  await Promise.all(envoys.map(envoy => envoy.stop()));
  await plane?.stop();
  await backends.stop();
}

/** Files that the user may have edited stay; those that only say where things run are written anew. */
async function copySample(folder: string, ports: ReadonlyMap<number, number>): Promise<void> {
  await mkdir(join(folder, 'config'), { recursive: true });
  const there = new Set(await readdir(folder, { recursive: true }));
  const kept = new Set([join('config', 'reviews.yaml'), join('config', 'destination-rules.yaml'), 'mesh.yaml']);
  for (const name of (await readdir(SAMPLE, { recursive: true })).sort()) {
    if (!/\.(yaml|md)$/.test(name) || (there.has(name) && kept.has(name))) continue;
    await writeFile(join(folder, name), replacePorts(await readFile(join(SAMPLE, name), 'utf8'), ports));
  }
}

async function startPlane(sample: string, journal: string, log: Log): Promise<ControlPlane> {
  const monitoring = (await isFree(15014)) ? 15014 : 0;
  const loopback = (port: number): { readonly host: string; readonly port: number } => ({ host: '127.0.0.1', port });
  return startControlPlane(
    {
      configDir: join(sample, 'config'),
      meshConfig: join(sample, 'mesh.yaml'),
      grpcAddr: loopback((await isFree(15010)) ? 15010 : 0),
      httpAddr: loopback((await isFree(8080)) ? 8080 : 0),
      monitoringAddr: loopback(monitoring),
      settings: defaultSettings,
      journal,
      journalDurability: 'full',
      journalStrict: false,
      shutdownMs: 5_000,
    },
    systemClock,
    log,
  );
}

async function startEnvoys(
  sample: string,
  xdsPort: number,
  say: (line: string) => void,
): Promise<{ readonly envoys: readonly Envoy[]; readonly missing?: string }> {
  const found = await findEnvoy(say);
  if ('missing' in found) return { envoys: [], missing: found.missing };
  const file = join(sample, 'proxies.yaml');
  const { value } = singleDocument(file, await readFile(file, 'utf8'));
  const nodes = (Array.isArray(value) ? value : []).filter(isObject);
  const started = await Promise.allSettled(
    nodes.map(({ name, node }) => {
      const log = join(sample, `envoy-${String(name)}.log`);
      const options = { binary: found.binary, name: String(name), node: node as JsonObject, xdsPort, log };
      return startEnvoy({ ...options, protocol: name === 'productpage' ? 'delta' : 'sotw' });
    }),
  );
  const envoys = started.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = started.find(result => result.status === 'rejected');
  if (failed === undefined) return { envoys };
  await Promise.all(envoys.map(envoy => envoy.stop()));
  return { envoys: [], missing: String(failed.reason) };
}

async function introduce(demo: Demo, say: (line: string) => void): Promise<void> {
  const { ports } = demo.plane;
  const here = (path: string): string => relative(process.cwd(), path) || path;
  say(
    `control plane  xDS 127.0.0.1:${ports.grpc}  metrics and debug http://127.0.0.1:${ports.monitoring}/debug  journal ${here(demo.journal)}`,
  );
  for (const envoy of demo.envoys) say(`envoy          ${envoy.name}  admin http://127.0.0.1:${envoy.adminPort}`);
  if (demo.missing !== undefined) {
    say(
      `${demo.missing}\nThe control plane runs without them: \`npx periplus generate -f ${here(demo.config)} --proxies ${here(demo.sample)}/proxies.yaml\` shows what they would get.`,
    );
    return;
  }
  const up = await waitForPage(`${demo.gateway}/productpage`);
  if (!up)
    say(
      `the page does not answer yet; \`npx periplus proxy-status --address localhost:${ports.monitoring}\` shows what the Envoys say`,
    );
  say(`
Three things to try:
  1. open ${demo.gateway}/productpage  (browser → gateway → productpage → its sidecar → reviews)
  2. edit the weights in ${here(join(demo.config, 'reviews.yaml'))}, save, and reload the page: v3 has red stars
  3. replay what happened, byte for byte:  npx periplus replay --verify --journal ${here(demo.journal)}
Ctrl-C stops everything.`);
}

async function waitForPage(url: string): Promise<boolean> {
  const until = Date.now() + PAGE_MS_MAX;
  while (Date.now() < until) {
    const ok = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
      answer => answer.ok,
      () => false,
    );
    if (ok) return true;
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  return false;
}
