// The objects of a cluster as a state, listed once: for commands that judge what is there now. Sends get, list and
// watch only, and writes nothing, neither to the cluster nor to a journal.
//
// What may not be read is named, never taken for absent: the caller prints it.

import { randomInt } from 'node:crypto';
import type { Adapter, Sink } from '../adapters/adapter.ts';
import { connectKube } from '../adapters/kube/kube-adapter.ts';
import { VERSION } from '../admin/version.ts';
import type { Fact, Unrecorded } from '../core/event.ts';
import { systemClock } from '../runtime/clock.ts';
import { CliError, progress } from './output.ts';

/** A cluster that is not listed by then is judged by what was listed, or not at all. */
export const LISTING_MS_MAX = 60_000;
/** A kind that is refused is asked for again; after this long it counts as not readable. */
const TROUBLED_MS_MAX = 5_000;
const POLL_MS = 100;
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

/** Rejects with a CliError if nothing could be listed. */
export async function listCluster({ kubeconfig, context, cluster }: ClusterFlags): Promise<Listed> {
  const { adapter, credentials } = await connectKube({
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
    return { ...(await listOnce(adapter)), shown: credentials.shown };
  } finally {
    credentials.close();
  }
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
