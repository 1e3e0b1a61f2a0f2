// The quick look at a case, in process: its objects are folded into the mesh and made into what each proxy holds, whole
// and at a quarter of the size. It finds what grows faster than its size within a second a case; turns of the event loop,
// encoding, pushes and removal are the server's business (run.ts).

import type { JsonObject } from '../../src/core/base/json.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import type { State } from '../../src/core/state.ts';
import { foldFacts, proxyFacts } from '../../src/offline/generate.ts';
import { heldBy } from '../../src/offline/held.ts';
import { cpuMs } from '../measure.ts';
import type { TurnCase } from './cases.ts';
import { baseMesh, plainObjects, proxyCases } from './mesh.ts';

export interface Screened {
  readonly id: string;
  readonly foldMs: number;
  /** Of each proxy, in the order of proxyCases. */
  readonly generateMs: readonly number[];
  /** CPU of the whole over that of a quarter: 4 is linear. */
  readonly growth: number;
}

export const SCREEN_BYTES = 350_000;
const QUARTER = 4;
/** A shorter time is more noise than work. */
const MS_MIN = 30;
const WARM_BYTES = 50_000;
const WARM_ROUNDS = 3;

export class Screen {
  readonly #mesh: State;

  constructor() {
    this.#mesh = folded(baseMesh);
    for (let i = 0; i < WARM_ROUNDS; i++) this.#cost(plainObjects(WARM_BYTES));
  }

  look({ id, objects }: TurnCase, bytes = SCREEN_BYTES): Screened {
    const quarter = this.#cost(objects(bytes / QUARTER));
    const whole = this.#cost(objects(bytes));
    const growth = Math.max(MS_MIN, sum(whole)) / Math.max(MS_MIN, sum(quarter));
    return { id, ...whole, growth: Math.round(growth * 10) / 10 };
  }

  #cost(objects: readonly JsonObject[]): Pick<Screened, 'foldMs' | 'generateMs'> {
    let state = this.#mesh;
    const foldMs = cpuMs(() => {
      state = folded(objects, state);
    });
    const generateMs = proxyCases.map(({ id, cluster, metadata }, i) => {
      state = foldFacts(proxyFacts(`p${i}`, { id, cluster, metadata }), state).state;
      return Math.round(cpuMs(() => heldBy(new Tracker(), state, state.proxies.get(`p${i}`)!)));
    });
    return { foldMs: Math.round(foldMs), generateMs };
  }
}

function folded(objects: readonly JsonObject[], state?: State): State {
  return foldFacts(
    objects.map(object => ({ source: 'file/Kubernetes', kind: 'Add' as const, object })),
    state,
  ).state;
}

function sum({ foldMs, generateMs }: Pick<Screened, 'foldMs' | 'generateMs'>): number {
  return generateMs.reduce((total, one) => total + one, foldMs);
}
