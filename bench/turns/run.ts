// A case is run: at a quarter of its size and whole, each added, followed by a change elsewhere, and taken away again.
// One server serves several cases, until one has left memory or an ended stream behind.

import type { JsonObject } from '../../src/core/base/json.ts';
import { definitionOf } from '../../src/core/kinds/registry.ts';
import { FILE_BYTES, OBJECT_BYTES, type TurnCase } from './cases.ts';
import { otherChange, plainObjects, yamlOf } from './mesh.ts';
import { type Step, TurnServer } from './server.ts';

export interface Result {
  readonly id: string;
  /** Of the file. */
  readonly kb: number;
  /** The first object passes the checks of its kind. */
  readonly accepted?: boolean;
  readonly add: Step;
  readonly change: Step;
  readonly remove: Step;
  readonly peakMb: number;
  /** CPU of adding a quarter of it. */
  readonly quarterMs?: number;
  readonly error?: string;
}

const QUARTER = 4;
/** Less is as much noise as work, so growth is not looked at. */
export const CPU_MS_MIN = 1_500;
const LEFT_MB_MAX = 250;
const CASES_MAX = 30;

export class Runner {
  readonly #port: number;
  readonly #keep: (id: string, text: string) => void;
  #server: TurnServer | undefined;
  #freshMb = 0;
  #served = 0;
  #rounds = 0;

  /** `keep` is handed the file of each case before it is run. */
  constructor(port: number, keep: (id: string, text: string) => void = () => undefined) {
    this.#port = port;
    this.#keep = keep;
  }

  run({ id, objects, field }: TurnCase, size?: number): Promise<Result> {
    const bytes = size ?? (field === '*' ? FILE_BYTES : OBJECT_BYTES);
    return this.#whole(id, bytes, objects);
  }

  baseline(id: string, bytes: number): Promise<Result> {
    return this.#whole(id, bytes, plainObjects);
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  async #whole(id: string, bytes: number, objects: (bytes: number) => readonly JsonObject[]): Promise<Result> {
    const made = objects(bytes);
    const text = yamlOf(made);
    this.#keep(id, text);
    const kb = Math.round(text.length / 1_024);
    const all = await this.#steps(text);
    const accepted = isAccepted(made[0]!);
    if (all.error !== undefined || all.add.cpuMs < CPU_MS_MIN) return { id, kb, accepted, ...all };
    const quarter = await this.#steps(yamlOf(objects(bytes / QUARTER)), true);
    return { id, kb, accepted, ...all, quarterMs: quarter.add.cpuMs };
  }

  async #steps(text: string, isQuick = false): Promise<Omit<Result, 'id' | 'kb'>> {
    const server = await this.#ready();
    server.peakMb();
    const none: Step = { turnMs: 0, cpuMs: 0, sentMb: 0 };
    const add = await server.step(() => server.write('case', text));
    const change = isQuick
      ? none
      : await server.step(() => server.write('other', yamlOf([otherChange(++this.#rounds)])));
    const remove = await server.step(() => server.remove('case'));
    if (server.hasUnread) throw new Error('the machine is too busy: the server did not wait for the file to be parsed');
    const error = server.broken;
    const peakMb = error === undefined ? server.peakMb() : 0;
    const isSpent =
      error !== undefined || add.unfinished || remove.unfinished || server.residentMb - this.#freshMb > LEFT_MB_MAX;
    if (isSpent || ++this.#served >= CASES_MAX) await this.stop();
    return { add, change, remove, peakMb, ...(error === undefined ? {} : { error }) };
  }

  async #ready(): Promise<TurnServer> {
    if (this.#server !== undefined) return this.#server;
    this.#server = await TurnServer.start(this.#port);
    this.#freshMb = this.#server.residentMb;
    this.#served = 0;
    return this.#server;
  }
}

function isAccepted(object: JsonObject): boolean {
  return definitionOf(object.apiVersion, object.kind)?.decode(object as never)._tag === 'Right';
}
