// One mesh at a time: Periplus configures a stock Envoy for it over ADS, and the oracle and the Envoy are asked the
// same questions. Where the Envoy stands, who it is and what is asked is up to the suite; the rest is here, so that
// every suite asks in one way.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { findEnvoy } from '../../../src/demo/envoy.ts';
import type { Connection } from '../../../src/oracle/question.ts';
import type { World } from '../../property/mesh/world.ts';
import { judge } from '../envoy-judge.ts';
import { whyNoPods } from '../interception/pods.ts';
import { canRun } from '../suite.ts';
import { type Asked, type Compared, compare, type Telling } from './comparison.ts';
import type { Place } from './places.ts';

export const QUESTIONS = 30;
/** Of canaries, whose worlds are to have rules that matter. */
const FIXED_SEED = 7;
const LIVE_MS_MAX = 30_000;
const SOURCE = 'file/Kubernetes';

/** A mesh, and what is asked about it. */
export interface Inquiry {
  readonly world: World;
  readonly questions: readonly Asked[];
}

/** `about`: any question about a mesh. */
export function inquiries(
  worlds: fc.Arbitrary<World>,
  about: (world: World) => fc.Arbitrary<Asked>,
): fc.Arbitrary<Inquiry> {
  return worlds.chain(world =>
    fc.array(about(world), { minLength: QUESTIONS, maxLength: QUESTIONS }).map(questions => ({ world, questions })),
  );
}

/** An Envoy's binary; undefined if the suite cannot run here, which it has then said. */
export async function envoyFor(suite: string): Promise<string | undefined> {
  const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
  const runs = canRun(suite, 'missing' in found ? found.missing : whyNoPods());
  return runs && 'binary' in found ? found.binary : undefined;
}

export interface Trial {
  readonly binary: string;
  /** Who the Envoy is. */
  readonly node: JsonObject;
  /** Where it stands. */
  readonly place: () => Promise<Place>;
  readonly arrives: Connection['arrives'];
  /** Beside those of each mesh. */
  readonly objects?: readonly JsonObject[];
}

/**
 * To be called inside of `describe`, whose tests share one place. What it returns fails the test if the Envoy refuses
 * anything.
 */
export function trying(trial: Trial): (inquiry: Inquiry, telling?: Telling) => Promise<Compared> {
  let place: Place;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-oracle-'));
    place = await trial.place();
  });
  afterAll(async () => {
    await place?.end();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  const { binary, node, arrives, objects = [] } = trial;
  return async ({ world, questions }, telling = held => held) => {
    let compared: Compared | undefined;
    const complaints = await judge({
      binary,
      node,
      protocol: 'delta',
      liveMsMax: LIVE_MS_MAX,
      facts: [
        { source: 'runtime', kind: 'Engine', settings: {} },
        { source: SOURCE, kind: 'MeshConfig', value: world.mesh },
        ...[...objects, ...world.objects].map(object => ({ source: SOURCE, kind: 'Add' as const, object })),
      ],
      inside: command => place.inside(command),
      whileLive: async state => {
        compared = await compare({ place, folder, state, questions, arrives, telling });
      },
    });
    expect(complaints).toEqual([]);
    return compared!;
  };
}

/** True if a wrong telling shows in one of the first `most` meshes. */
export async function isCaught(
  inquiry: fc.Arbitrary<Inquiry>,
  most: number,
  tried: (inquiry: Inquiry) => Promise<Compared>,
): Promise<boolean> {
  for (const one of fc.sample(inquiry, { numRuns: most, seed: FIXED_SEED })) {
    if ((await tried(one)).different.length > 0) return true;
  }
  return false;
}

/** A mistake for canaries. */
export const routesReversed: Telling = held => ({
  ...held,
  routes: held.routes.map(route => ({
    ...route,
    virtualHosts: (route.virtualHosts ?? []).map(host => ({ ...host, routes: [...(host.routes ?? [])].reverse() })),
  })),
});
