// The objects of a cluster as a state, listed once: for commands that judge what is there now. Sends get, list and
// watch only, and writes nothing, neither to the cluster nor to a journal.
//
// What may not be read is named, never taken for absent: the caller prints it.

import { randomInt } from 'node:crypto';
import type { Adapter, Sink } from '../adapters/adapter.ts';
import type { Api, Query, WriteApi } from '../adapters/kube/api.ts';
import { connectKube } from '../adapters/kube/kube-adapter.ts';
import type { Resource } from '../adapters/kube/resource.ts';
import { VERSION } from '../admin/version.ts';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { Fact, Unrecorded } from '../core/event.ts';
import { kindNames } from '../core/kinds/registry.ts';
import type { KindName } from '../core/model/kind.ts';
import { systemClock } from '../runtime/clock.ts';
import { CliError, progress } from './output.ts';

/** A cluster that is not listed by then is judged by what was listed, or not at all. */
export const LISTING_MS_MAX = 60_000;
/** A kind that is refused is asked for again; after this long it counts as not readable. */
const TROUBLED_MS_MAX = 5_000;
const POLL_MS = 100;
const PAGE = 500;
const PAGE_BYTES_MAX = 128 * 1024 * 1024;
const RANDOM_MAX = 2 ** 47;
/** Requests a second, as istioctl's. */
const LIMIT = { qps: 50, burst: 100 };

export interface ClusterFlags {
  readonly kubeconfig: string;
  readonly context?: string;
  /** Id of the cluster. */
  readonly cluster: string;
}

export interface Listed {
  readonly facts: readonly Unrecorded[];
  /** For messages: the server's address and the file. */
  readonly shown: string;
  /** Kinds that could not be listed, and why. */
  readonly missing: readonly string[];
}

/** The API server of a cluster that was listed, for what the list does not have. */
export interface ListedCluster {
  readonly api: Pick<Api, 'get'> & WriteApi;
  /** Undefined: the server has no such kind. */
  resource(kind: KindName): Resource | undefined;
}

/**
 * Rejects with a CliError if nothing could be listed. `then` runs while there is a connection.
 */
export async function listCluster(
  { kubeconfig, context, cluster }: ClusterFlags,
  then?: (cluster: ListedCluster) => Promise<void>,
): Promise<Listed> {
  const { adapter, credentials, connection } = await connectKube({
    cluster,
    kubeconfig,
    context,
    limit: LIMIT,
    chance: { ...systemClock, random: () => randomInt(RANDOM_MAX) / RANDOM_MAX },
    log: () => undefined,
    userAgent: `periplus/${VERSION}`,
  }).catch((error: unknown) => {
    throw new CliError(`--kubeconfig ${kubeconfig}: ${error instanceof Error ? error.message : String(error)}`);
  });
  try {
    // Where objects are is forgotten when the watches end.
    const resources = new Map<KindName, Resource | undefined>();
    const stop = (): Promise<void> => {
      for (const kind of kindNames) resources.set(kind, adapter.resource(kind));
      return adapter.stop();
    };
    const { source } = adapter;
    const listed = await listOnce({ source, start: sink => adapter.start(sink), status: () => adapter.status(), stop });
    await then?.({ api: connection(), resource: kind => resources.get(kind) });
    return { ...listed, shown: credentials.shown };
  } finally {
    credentials.close();
  }
}

/** The objects of a path as the server has them, in pages. */
export async function* objectsAt({ api }: ListedCluster, path: string, query: Query = {}): AsyncGenerator<JsonObject> {
  let next: string | undefined;
  do {
    const asked = { ...query, limit: String(PAGE), continue: next };
    const page = await api.get(path, asked, { signal: AbortSignal.timeout(LISTING_MS_MAX), bytesMax: PAGE_BYTES_MAX });
    const { items, metadata } = isObject(page) ? page : {};
    for (const item of Array.isArray(items) ? (items as readonly Json[]) : []) if (isObject(item)) yield item;
    next = isObject(metadata) && typeof metadata.continue === 'string' ? metadata.continue : '';
  } while (next !== '');
}

/** Stops the adapter in the end. */
export async function listOnce(adapter: Adapter, troubledMsMax = TROUBLED_MS_MAX): Promise<Omit<Listed, 'shown'>> {
  const facts: Unrecorded[] = [];
  const add = async (batch: readonly Fact[]): Promise<void> => {
    for (const fact of batch) facts.push({ ...fact, source: adapter.source });
  };
  const sink: Sink = {
    submit: add,
    relist: add,
    relistKinds: (_, all) => add(all),
    holds: () => false,
  };
  const started = adapter.start(sink).then(
    () => undefined,
    () => undefined,
  );
  const line = progress('listing the cluster');
  let isDone = false;
  void started.then(() => {
    isDone = true;
  });
  const began = Date.now();
  while (!isDone && Date.now() - began < LISTING_MS_MAX) {
    const { waiting, troubles } = adapter.status();
    line.show(facts.length, facts.length + waiting.length);
    const isStuck = troubles.length > 0 && troubles.length >= waiting.length;
    if (isStuck && Date.now() - began > troubledMsMax) break;
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
  line.end();
  const isComplete = isDone;
  const { waiting, troubles, unreadable } = adapter.status();
  await adapter.stop();
  await started;
  if (!isComplete && facts.length === 0) {
    throw new CliError(`the cluster could not be listed: ${troubles[0] ?? `no answer in ${LISTING_MS_MAX / 1_000} s`}`);
  }
  const refused = isComplete ? [] : waiting.map(kind => troubleOf(kind, troubles));
  return { facts, missing: [...refused, ...unreadable.map(({ what, why }) => `${what}: ${why}`)] };
}

function troubleOf(kind: string, troubles: readonly string[]): string {
  const plural = kind.toLowerCase();
  const found = troubles.find(text => text.toLowerCase().includes(plural)) ?? troubles[0];
  return found === undefined ? kind : `${kind}: ${found}`;
}
