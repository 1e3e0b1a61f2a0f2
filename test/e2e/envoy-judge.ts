// A judge of what Periplus sends: a stock Envoy in a network namespace of its own connects as a given proxy, over a
// socket in the file system. It has accepted when it is live (so everything it was sent is warm: clusters have their
// endpoints, listeners their routes and secrets), when no type was refused, and when nothing waits to be accepted.
// Fields that Envoy does not know count as refused.

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import type { State } from '../../src/core/state.ts';
import { bootstrap } from '../../src/demo/envoy.ts';
import { claimedIdentities } from '../../src/offline/generate.ts';
import type { ResourceSource } from '../../src/xds/assemble/source.ts';
import { resourceSources } from '../../src/xds/assemble/types.ts';
import { Engine } from '../../src/xds/engine/engine.ts';
import { XdsServer } from '../../src/xds/grpc/server.ts';
import { defaultScheduleSettings } from '../../src/xds/push/settings.ts';
import { defaultXdsLimits } from '../../src/xds/serve/limits.ts';
import type { KeyOf } from '../../src/xds/serve/private-keys.ts';
import { listen } from '../protocol/listen.ts';
import { MemoryHost } from '../protocol/memory-host.ts';
import { inNewNamespace } from './namespaces.ts';

const POLL_MS = 100;
const LOG_CHARS_MAX = 2_000;
/** `server.state` of a live Envoy. */
const LIVE = 0;
const warmingNames = ['cluster_manager.warming_clusters', 'listener_manager.total_listeners_warming'];

export interface JudgeOptions {
  readonly binary: string;
  readonly facts: readonly Unrecorded[];
  /** envoy.config.core.v3.Node in protojson; Envoy adds its extensions. */
  readonly node: JsonObject;
  readonly protocol: 'delta' | 'sotw';
  /** How long Envoy may take to become live. */
  readonly liveMsMax: number;
  /** Files that Envoy finds on its disk: path → content. */
  readonly files?: ReadonlyMap<string, string>;
  /**
   * Types, by their short name, for which Envoy requests a resource that does not exist, so that no response arrives.
   */
  readonly unanswered?: ReadonlySet<string>;
  /** The command that Envoy runs by; default: in a network namespace of its own. */
  readonly inside?: (command: readonly string[]) => readonly [string, readonly string[]];
  /** What is done with the Envoy once it is live. */
  readonly whileLive?: (state: State) => Promise<void>;
  /** Private keys of certificates that the facts give to the Envoy. */
  readonly keyOf?: KeyOf;
  /** Other generators than Periplus's own. */
  readonly sources?: readonly ResourceSource[];
}

/** What Envoy has against it, a sentence each; none: accepted. */
export async function judge(options: JudgeOptions): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'periplus-judge-'));
  const host = new MemoryHost();
  await host.record(options.facts);
  const server = new XdsServer({
    host,
    engine: new Engine(options.sources ?? resourceSources),
    limits: defaultXdsLimits,
    schedule: defaultScheduleSettings,
    ...(options.keyOf === undefined ? {} : { keyOf: options.keyOf }),
    authenticate: async () => ({
      caller: { identities: claimedIdentities(options.node), proof: { how: 'certificate', fingerprint: '' } },
    }),
  });
  host.onPush = request => server.push(request);
  const sockets = { xds: { pipe: join(folder, 'xds') }, admin: { pipe: join(folder, 'admin') } };
  await listen(server, sockets.xds.pipe);
  const log = await open(join(folder, 'log'), 'w');
  const config = bootstrap({ node: options.node, protocol: options.protocol, ...sockets });
  const own = ['--disable-hot-restart', '--concurrency', '1', '-l', 'warning', '--file-flush-interval-msec', '100'];
  const flags = [...own, '--reject-unknown-dynamic-fields'];
  const run = [options.binary, '--config-yaml', JSON.stringify(config), ...flags];
  const files = await disk(join(folder, 'disk'), options.files ?? new Map());
  const [command, args] = options.inside?.(run) ?? inNewNamespace(run, files);
  const envoy = spawn(command, args, { stdio: ['ignore', log.fd, log.fd] });
  const ended = new Promise<void>(resolve => envoy.once('exit', () => resolve()));
  try {
    const complaint = await untilLive(sockets.admin.pipe, server, options, () => envoy.exitCode !== null);
    if (complaint === undefined) await options.whileLive?.(host.state());
    const refused = host.nacks.map(nack => `refuses ${nack.typeUrl} ${nack.resources.join(', ')}: ${nack.message}`);
    const output = complaint === undefined ? '' : (await readFile(join(folder, 'log'), 'utf8')).slice(-LOG_CHARS_MAX);
    return [...refused, ...(complaint === undefined ? [] : [`${complaint}\n${output}`])];
  } finally {
    envoy.kill('SIGKILL');
    await ended;
    await log.close();
    await server.stop(0);
    await rm(folder, { recursive: true, force: true });
  }
}

/** The folder that holds the files; undefined if there are none. */
async function disk(folder: string, files: ReadonlyMap<string, string>): Promise<string | undefined> {
  for (const [path, content] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return files.size === 0 ? undefined : folder;
}

/**
 * Undefined when Envoy is live, has answered everything and warms nothing; else what it lacks when the time is over.
 */
async function untilLive(
  admin: string,
  server: XdsServer,
  { liveMsMax, unanswered }: JudgeOptions,
  isOver: () => boolean,
): Promise<string | undefined> {
  const end = Date.now() + liveMsMax;
  for (;;) {
    const stats = await statsOf(admin);
    const types = server.connections()[0]?.types ?? [];
    const asked = types.filter(type => !unanswered?.has(type.short));
    const waiting = asked.filter(type => type.sync !== 'SYNCED' && type.sync !== 'ERROR').map(type => type.short);
    const warming = warmingNames.filter(name => stats.get(name) !== 0).map(name => `${name} ${stats.get(name)}`);
    const isLive = stats.get('server.state') === LIVE;
    if (isLive && types.length > 0 && waiting.length === 0 && warming.length === 0) return undefined;
    if (isOver()) return 'Envoy ended';
    if (Date.now() > end) {
      const state = isLive ? 'live' : 'not live';
      return `${state} after ${liveMsMax} ms; not accepted: ${waiting.join(', ') || '-'}; ${warming.join(', ')}`;
    }
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
}

/** Gauges and counters by name; none while the admin socket is not there. */
function statsOf(admin: string): Promise<ReadonlyMap<string, number>> {
  const path = '/stats?filter=^(server.state|.*warming_clusters|.*listeners_warming)$';
  return new Promise(resolve => {
    const request = get({ socketPath: admin, path }, response => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        const pairs = [...text.matchAll(/^(\S+): ([0-9]+)$/gm)];
        resolve(new Map(pairs.map(([, name, value]) => [name ?? '', Number(value)] as const)));
      });
    });
    request.on('error', () => resolve(new Map()));
  });
}
