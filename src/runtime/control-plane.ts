// The control plane of `periplus serve`: starts journal, fold, xDS, sources and HTTP in order, connects them, and stops
// them in reverse order. Decisions are made in the parts; this file only wires them.

import { randomBytes } from 'node:crypto';
import { isRight } from 'fp-ts/lib/Either.js';
import type { Adapter } from '../adapters/adapter.ts';
import { FileParser } from '../adapters/file/file-parser.ts';
import { whyNot } from '../adapters/file/why-not.ts';
import type { ClusterConfigStore } from '../adapters/kube/write/cluster-config-store.ts';
import { debugRoutes, withoutDebug } from '../admin/debug.ts';
import { answerDebugXds } from '../admin/debug-xds.ts';
import type { Admission } from '../admin/http.ts';
import { Metrics } from '../admin/metrics.ts';
import { VERSION } from '../admin/version.ts';
import { WebhookWrites } from '../admin/webhook-writes.ts';
import { InjectorInForce } from '../admission/inject/in-force.ts';
import type { Effect } from '../core/effect.ts';
import { featureOf } from '../core/mesh/features.ts';
import type { PushRequest } from '../core/push-request.ts';
import { showPushRequest } from '../core/push-request.ts';
import type { State } from '../core/state.ts';
import { History } from '../history/history.ts';
import { resourceSources } from '../xds/assemble/types.ts';
import { loadProto } from '../xds/engine/encode.ts';
import { Engine } from '../xds/engine/engine.ts';
import { XdsServer } from '../xds/grpc/server.ts';
import { scheduleSettings } from '../xds/push/settings.ts';
import type { DebugQuestion, DebugReply, Nack, XdsHost } from '../xds/serve/host.ts';
import { type XdsLimits, xdsLimits } from '../xds/serve/limits.ts';
import { openAdapters } from './adapters.ts';
import type { Clock } from './clock.ts';
import { closeEach } from './close-each.ts';
import { openConfigSourceSet } from './config-source-set.ts';
import { ConfigStoreController } from './config-store.ts';
import { expectedProxies } from './expected-proxies.ts';
import { collectGarbage, growHeapSlowly } from './garbage.ts';
import { InjectorTexts, injectorTextsInForce } from './injector-texts.ts';
import { type Log, scoped } from './log.ts';
import { MeshTexts } from './mesh-texts.ts';
import { openAnalysis } from './open-analysis.ts';
import { openDistribution } from './open-distribution.ts';
import { prepareIdentity } from './open-identity.ts';
import { openInjectorFiles } from './open-injector-files.ts';
import { openMachineWriter } from './open-machine-writer.ts';
import { openPorts, type Ports } from './open-ports.ts';
import { openRegistration } from './open-registration.ts';
import { openRemoteClusters } from './open-remote-clusters.ts';
import { openWorld, retentionOf } from './open-world.ts';
import { PatchWatch } from './patch-watch.ts';
import { RecordedStore } from './recorded-store.ts';
import { Reporter } from './reporter.ts';
import type { ServeOptions } from './serve-options.ts';
import { SNAPSHOT_EVENTS, Snapshotter } from './snapshots.ts';
import { type Readiness, Sources } from './sources.ts';
import { startSources } from './start-sources.ts';
import { runInSlices, SWEEP_MS, Sweeper } from './sweeper.ts';
import { WarmUp, warmUpEnabled } from './warm-up.ts';
import { webhookAdapters } from './webhook-port.ts';
import type { World } from './world.ts';

/**
 * Most events that are folded to answer one question about the past: a few seconds of work, in slices beside serving.
 */
export const HISTORY_FOLD_MAX = 40_000;

export interface ControlPlane {
  readonly ports: Ports;
  readonly world: World;
  readonly xds: XdsServer;
  readonly sources: Sources;
  /** The objects in force; handlers can subscribe to their changes. */
  readonly config: ConfigStoreController;
  /** A store for objects that the embedding program writes: facts of the source `store/<cluster>`. */
  readonly written: RecordedStore;
  /**
   * The objects of the cluster, to be written through its API server; absent: there is none, or nothing may be written.
   */
  readonly cluster?: ClusterConfigStore;
  /** `/ready` says no from now on; everything is answered as before. */
  drain(): void;
  /** Ends every stream, finishes pending writes, closes everything. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Rejects if the journal, the configuration folder or an address cannot be opened; everything that was opened is closed
 * again.
 */
export async function startControlPlane(options: ServeOptions, clock: Clock, log: Log): Promise<ControlPlane> {
  const closers: (() => Promise<unknown>)[] = [];
  const closeAll = (): Promise<void> => closeEach(closers.splice(0).reverse(), log);
  try {
    return await start(options, clock, log, closers, closeAll);
  } catch (error) {
    await closeAll().catch(() => undefined);
    throw error;
  }
}

async function start(
  options: ServeOptions,
  clock: Clock,
  log: Log,
  closers: (() => Promise<unknown>)[],
  closeAll: () => Promise<void>,
): Promise<ControlPlane> {
  // Blocks for some 50 ms, which delays no client here.
  loadProto();
  const metrics = new Metrics();
  let cluster: ClusterConfigStore | undefined;
  const onCluster = (store: ClusterConfigStore): void => {
    cluster = store;
  };
  const onJwksFetched = (succeeded: boolean): void => metrics.jwksFetched(succeeded);
  const onWrite = (kind: string, name: string, reason: string | undefined): void =>
    webhookWrites.count(kind, name, reason);
  const webhookWrites = new WebhookWrites(metrics.registry);
  const prepared = await prepareIdentity(options, clock, scoped(log, 'ca'));
  closers.push(async () => prepared?.close());
  const adaptersAgain = () =>
    openAdapters({ ...options, onJwksFetched, onCluster, onWrite }, clock, scoped(log, 'config'), VERSION);
  const found = await adaptersAgain();
  const webhooks = await webhookAdapters(options, clock, scoped(log, 'webhooks'));
  closers.push(async () => webhooks.close());
  const distribution = openDistribution(options, clock, scoped(log, 'config'));
  const analysis = (): readonly Adapter[] => openAnalysis(options, clock, scoped(log, 'config'));
  const further = (): readonly Adapter[] => [...webhooks.adapters, ...distribution.newAdapters(), ...analysis()];
  const machines = openRegistration(options, clock, scoped(log, 'config'), metrics.registry);
  const machineWriter = openMachineWriter(options, clock, scoped(log, 'config'));
  const own = [...(prepared?.adapters ?? []), machines];
  const opened = await openWorld(options, clock, scoped(log, 'journal'));
  const { journal, world, snapshot, asOf, connected } = opened;
  closers.push(() => journal.close());
  const injectorFiles = () => openInjectorFiles(options, clock, scoped(log, 'webhooks'), world.state);
  const first = [...found, ...further(), ...injectorFiles()];
  // Loaded by replicas only: the client of the log costs a tenth of an import of `periplus`.
  const replication = options.replica === undefined ? undefined : await import('./open-replica.ts');
  const replicated = await replication?.openReplica(options, {
    ...{ world, journal, clock, log: scoped(log, 'journal'), metrics },
    adapters: first,
    again: async () => [...(await adaptersAgain()), ...further(), ...injectorFiles()],
  });
  const sourcesWorld = replicated?.writer ?? world;
  const adapters = [...(replicated?.adapters ?? first), ...own];
  const crowded = (): boolean => xds.isCrowded;
  const isBusy = (): boolean => xds.isEvaluating;
  const snapshotter = new Snapshotter(
    journal,
    snapshot,
    scoped(log, 'journal'),
    SNAPSHOT_EVENTS,
    retentionOf(options, clock),
    crowded,
  );
  closers.push(() => snapshotter.finish(world.state));
  closers.push(() => world.stop());
  closers.push(async () => replicated?.stop());

  const config = new ConfigStoreController(
    world,
    adapters.map(({ source }) => source),
  );
  const written = new RecordedStore(sourcesWorld, `store/${options.settings.clusterId}`);
  const remote = openRemoteClusters(options, {
    world: sourcesWorld,
    own: world,
    clock,
    log: scoped(log, 'multicluster'),
    registry: metrics.registry,
    isPaused: replicated !== undefined,
  });
  if (machineWriter !== undefined) {
    world.listen({ onFolded: state => machineWriter.onState(state) });
    replicated?.onTurn(turn => machineWriter.turn(turn));
    closers.push(() => machineWriter.stop());
  }
  const notPaused = (error: unknown): void => log('error', `remote clusters: ${whyNot(error)}`);
  replicated?.onTurn(turn => (turn ? remote.resume() : void remote.pause().catch(notPaused)));
  replicated?.onListed(() => remote.allowWritesOfTerm());
  const configLog = scoped(log, 'config');
  const planes = openConfigSourceSet(options.settings, {
    ...{ world: sourcesWorld, adapters, clock, log: configLog },
    isPaused: replicated !== undefined,
  });
  const notTurned = (error: unknown): void => configLog('error', `configuration sources: ${whyNot(error)}`);
  replicated?.onTurn(turn => void (turn ? planes.resume() : planes.pause()).catch(notTurned));
  const lateMs = featureOf(options.settings, 'PILOT_REMOTE_CLUSTER_TIMEOUT');
  const remotes = [remote, planes];
  const sources = new Sources({ adapters, state: world.state, asOf, clock, log: configLog, remotes, lateMs });
  const reporter = new Reporter(log, adapters);
  const engine = new Engine(resourceSources);
  const patches = new PatchWatch({ tracker: engine.tracker, state: () => world.state, log, isBusy });
  const warmUp = new WarmUp({
    engine,
    state: () => world.state,
    clock,
    log,
    enabled: warmUpEnabled(process.env),
    tidy: collectGarbage,
  });
  closers.push(async () => warmUp.stop());
  const withdrawn = (): string | undefined => replicated?.integrity.withdrawn;
  const ready = (): boolean => sources.ready && warmUp.done && withdrawn() === undefined;
  let answerDebug: XdsHost['debug'];
  const debug = (question: DebugQuestion): Promise<DebugReply> => answerDebug?.(question) ?? Promise.resolve(NOT_YET);
  const caughtUp = replicated === undefined ? {} : { caughtUp: () => replicated.peers.caughtUp() };
  const ads = xdsHost({ world, clock, log: scoped(log, 'ads'), metrics, reporter, engine, ready });
  const host = { ...ads, debug, machines, ...caughtUp };
  const limits = limitsOf(options);
  const identity = await prepared?.begin({ world, engine, metrics, ready, callOf: id => remote.callOf(id) });
  const schedule = scheduleSettings(process.env);
  const xds = new XdsServer({ host, engine, limits, schedule, ...identity?.ofServer });
  closers.push(() => xds.stop(options.shutdownMs));
  distribution.begin({ world, engine, xds }, replicated);
  if (replicated !== undefined) replicated.integrity.disconnect = connection => xds.disconnect(connection);

  world.listen({
    onEvent: (_before, event) => metrics.recorded(event),
    onFolded: (state: State, request: PushRequest, effects: readonly Effect[], tookMs: number) => {
      reporter.folded(state, effects);
      metrics.folded(request, effects, tookMs);
      xds.push(request);
      void patches.consider();
      if (world.durable) snapshotter.consider(state);
    },
  });
  const history = new History(journal, { foldMax: HISTORY_FOLD_MAX });
  closers.push(startSweeping({ world, engine, warmUp, history, metrics, crowded }));

  let isDraining = false;
  const drain = (): void => {
    isDraining = true;
  };
  const readiness = (): Readiness => {
    const why = isDraining ? 'it is about to stop' : withdrawn();
    return why === undefined ? warmUp.readiness(sources.readiness()) : { ready: false, text: `not ready: ${why}\n` };
  };
  const sourceStatus = { readiness, report: () => sources.report(), clusters: () => remote.rows() };
  const injector = new InjectorInForce(scoped(log, 'webhooks'));
  const injects = options.httpsAddr !== undefined && options.injects !== false;
  if (injects) world.listen({ onFolded: state => injector.setup(state) });
  const templates = (): Readonly<Record<string, string>> | undefined =>
    injects ? injectionTemplates(injector, world.state) : undefined;
  const { adminEndpoints = false } = options;
  const parts = { world, journal, history, engine, xds, metrics, templates, sources: sourceStatus, adminEndpoints };
  const pages = replicated?.pages(debugRoutes(parts)) ?? debugRoutes(parts);
  const routes = options.debugPages === false ? withoutDebug(pages) : pages;
  const viewerBy = (identities: readonly string[]): Admission =>
    identity?.identity.viewerBy(identities) ?? { refused: 401 };
  const podName = process.env.POD_NAME ?? '';
  answerDebug = question => answerDebugXds({ world, engine, xds, routes, viewerBy, podName }, question);
  const ports = await openPorts(options, { ...parts, routes, injector }, clock, log, closers, identity);
  const parser = new FileParser();
  const meshTexts = new MeshTexts(parser);
  const injectorTexts = new InjectorTexts(parser);
  closers.push(() => sources.stop());
  // First: a source that is stopped waits for what it has submitted.
  closers.push(() => meshTexts.close());
  const warmed = sources.whenReady().then(() => {
    growHeapSlowly();
    return warmUp.run(() => expectedProxies(journal, world.state, connected));
  });
  const worldOf = ({ source }: Adapter) => (own.some(adapter => adapter.source === source) ? world : sourcesWorld);
  await injectorTexts.read(injectorTextsInForce(world.state));
  const texts = { meshTexts, injectorTexts };
  await startSources(options, { adapters, sources, world, worldOf, ...texts, log: scoped(log, 'config') });
  replicated?.start();
  if (sources.ready) await warmed;
  return { ports, world, xds, sources, config, written, cluster, drain, stop: closeAll };
}

/** None if no configuration could be read; the log says why. */
function injectionTemplates(injector: InjectorInForce, state: State): Readonly<Record<string, string>> {
  const setup = injector.setup(state);
  return isRight(setup) ? setup.right.texts : {};
}

/** Flags take precedence over the environment. */
function limitsOf({
  keepaliveMs,
  keepaliveTimeoutMs,
  maxConnectionAgeMs: connectionAgeMsMax,
}: ServeOptions): XdsLimits {
  const limits = xdsLimits(process.env);
  return {
    ...limits,
    keepaliveMs: keepaliveMs ?? limits.keepaliveMs,
    keepaliveTimeoutMs: keepaliveTimeoutMs ?? limits.keepaliveTimeoutMs,
    connectionAgeMsMax,
  };
}

/** Starts the sweeps of memoised values that no connected proxy holds. Returns the function that ends them. */
function startSweeping({
  world,
  engine,
  warmUp,
  history,
  metrics,
  crowded,
}: Pick<HostParts, 'world' | 'engine' | 'metrics'> & {
  readonly warmUp: WarmUp;
  readonly history: History;
  readonly crowded: () => boolean;
}) {
  const sweeper = new Sweeper({
    memo: engine,
    connected: () => world.state.proxies.values(),
    holds: () => warmUp.holdsSweep(world.state.proxies.size > 0),
    busy: crowded,
  });
  world.listen({ onFolded: () => sweeper.consider() });
  metrics.gauge('periplus_memo_limit', 'Memoised values at which a sweep begins early.', () => sweeper.limit);
  metrics.gauge('periplus_memo_sweeps', 'Sweeps finished since the start.', () => sweeper.sweeps);
  const timer = setInterval(() => {
    void sweeper.tick();
    void runInSlices(history.tracker.sweeping(), () => false);
  }, SWEEP_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    sweeper.stop();
  };
}

/** Asked before the pages are there. */
const NOT_YET: DebugReply = { refused: 'UNAVAILABLE', message: 'the control plane is starting' };

interface HostParts {
  readonly world: World;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly reporter: Reporter;
  readonly engine: Engine;
  readonly ready: () => boolean;
}

function xdsHost({ world, clock, log, metrics, reporter, engine, ready }: HostParts): XdsHost {
  // Unique over all processes on this journal; the random part covers one whose last events were not durable.
  const boot = `${world.state.seq}-${randomBytes(3).toString('hex')}`;
  let connections = 0;
  return {
    clock,
    record: facts => world.record(facts),
    state: () => world.state,
    ready,
    connectionName: proxyId => `${proxyId}-${boot}-${++connections}`,
    log,
    nacked: nack => reporter.nacked(nack, objectsBehind(engine, world.state, nack)),
    observe: event => {
      metrics.observe(event);
      if (event.kind === 'Released') log('debug', `push ${showPushRequest(event.request)}`);
    },
  };
}

function objectsBehind(engine: Engine, state: State, nack: Nack): readonly string[] {
  const proxy = state.proxies.get(nack.connection);
  if (proxy === undefined) return [];
  const found = new Set<string>();
  for (const name of nack.resources) {
    for (const object of engine.provenance(state, proxy, nack.typeUrl, name)?.found ?? []) found.add(object);
  }
  return [...found].sort();
}
