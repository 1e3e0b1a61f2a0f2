// A host in memory: numbers facts, folds them with the real reducer and keeps them, so that a test can see what was
// recorded and when. Resources come from ConfigMaps of the mesh: `cds` has clusters, `eds` endpoints, `rds` routes; a
// data key is a resource name, its value changes the resource. So everything between a fact and the wire is real.

import type { Event, Fact, Unrecorded } from '../../src/core/event.ts';
import { fold } from '../../src/core/fold/fold-event.ts';
import type { Resource } from '../../src/core/model/resource.ts';
import { isNoPush, mergePushRequests, noPush, type PushRequest, pushRequest } from '../../src/core/push-request.ts';
import type { ProxyReader } from '../../src/core/query/reader.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import type { ResourceSource } from '../../src/xds/assemble/source.ts';
import type { HostClock, Nack, XdsHost, XdsObservation } from '../../src/xds/serve/host.ts';
import * as types from '../../src/xds/session/types.ts';

const wallClock: HostClock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

export class MemoryHost implements XdsHost {
  readonly clock = wallClock;
  readonly events: Event[] = [];
  readonly nacks: Nack[] = [];
  readonly observations: XdsObservation[] = [];
  readonly logged: string[] = [];
  isReady = true;
  /** Milliseconds that a commit takes. */
  commitMs = 0;
  failing: string | undefined;
  onPush: (request: PushRequest) => void = () => undefined;
  #state: State = emptyState;
  #states = new Map<number, State>();
  #names = 0;

  async record(facts: readonly Unrecorded[]): Promise<State> {
    await new Promise<void>(resolve => setTimeout(resolve, this.commitMs));
    if (this.failing !== undefined) throw new Error(this.failing);
    let request = noPush;
    for (const fact of facts) {
      const event: Event = { ...fact, seq: this.#state.seq + 1, time: this.#state.seq + 1 };
      const folded = fold(this.#state, event, new Set());
      if (folded.failure !== undefined) throw new Error(folded.failure);
      this.#state = folded.state;
      this.events.push(event);
      this.#states.set(event.seq, folded.state);
      for (const effect of folded.effects) {
        if (effect.kind === 'Push') request = mergePushRequests(request, effect.request);
      }
    }
    if (!isNoPush(request)) this.onPush(request);
    return this.#state;
  }

  /** Replaces the resources of a type, and pushes. */
  set(kind: string, data: Readonly<Record<string, string>>): Promise<void> {
    return this.setAll([[kind, data]]);
  }

  /** The same for several types at once. */
  async setAll(changes: readonly (readonly [string, Readonly<Record<string, string>>])[]): Promise<void> {
    const facts = changes.map(([kind, data]): Unrecorded => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: kind, namespace: 'ns' }, data };
      return { source: 'file/Kubernetes', kind: 'Add', object };
    });
    await this.record(facts);
    const keys = changes.map(([kind]) => `ConfigMap/ns/${kind}`);
    this.onPush(pushRequest(this.#state.seq, 'config', keys, { full: true }));
  }

  state(): State {
    return this.#state;
  }

  stateAt(seq: number): State {
    return this.#states.get(seq)!;
  }

  ready(): boolean {
    return this.isReady;
  }

  connectionName(proxyId: string): string {
    return `${proxyId}-${++this.#names}`;
  }

  log(_level: string, message: string): void {
    this.logged.push(message);
  }

  nacked(nack: Nack): void {
    this.nacks.push(nack);
  }

  observe(event: XdsObservation): void {
    this.observations.push(event);
  }

  facts<K extends Fact['kind']>(kind: K): readonly (Event & { readonly kind: K })[] {
    return this.events.filter((event): event is Event & { readonly kind: K } => event.kind === kind);
  }
}

function dataOf(reader: ProxyReader, name: string): Readonly<Record<string, string>> {
  return reader.object('ConfigMap', `Kubernetes/ns/${name}`)?.spec.data ?? {};
}

interface One {
  readonly name: string;
  readonly value: string;
}

const clusterOf = {
  name: 'test/cluster',
  run: ({ name, value }: One): Resource<object> => ({ name, message: { name, altStatName: value }, problems: [] }),
};
const endpointsOf = {
  name: 'test/endpoints',
  run: ({ name, value }: One): Resource<object> => ({
    name,
    message: { clusterName: name, endpoints: [{ priority: Number(value) }] },
    problems: [],
  }),
};
const routesOf = {
  name: 'test/routes',
  run: ({ name, value }: One): Resource<object> => ({
    name,
    message: { name, virtualHosts: [{ name: value, domains: ['*'] }] },
    problems: [],
  }),
};

export const testSources: readonly ResourceSource[] = [
  {
    url: types.CDS,
    all: {
      name: 'test/clusters',
      run: reader =>
        Object.entries(dataOf(reader, 'cds')).map(([name, value]) => reader.make(clusterOf, { name, value })),
    },
  },
  { url: types.EDS, named: named('eds', endpointsOf) },
  { url: types.RDS, named: named('rds', routesOf) },
];

function named(kind: string, generator: { readonly name: string; readonly run: (one: One) => Resource<object> }) {
  return {
    name: `test/${kind}`,
    run: (reader: ProxyReader, name: string) => {
      const value = dataOf(reader, kind)[name];
      return value === undefined ? undefined : reader.make(generator, { name, value });
    },
  };
}
