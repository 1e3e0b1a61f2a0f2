// A registrar beside a state: what it says is folded at once, and it sees every state. A test moves the time.

import { Registrar, type RegistrarOptions } from '../../../../src/adapters/registration/registrar.ts';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Fact, Unrecorded } from '../../../../src/core/event.ts';
import { defaultSettings, settingsToJson } from '../../../../src/core/mesh/settings.ts';
import type { Obj } from '../../../../src/core/model/object.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { emptyState, type State } from '../../../../src/core/state.ts';
import { wishTable } from '../../../../src/core/wishes/table.ts';
import type { Wish } from '../../../../src/core/wishes/wish.ts';
import { foldFacts, proxyFacts } from '../../../../src/offline/generate.ts';

export const GRACE_MS = 10_000;
export const IDENTITY = 'spiffe://cluster.local/ns/shop/sa/vm';

export function group(spec: JsonObject = {}, uid = 'group-uid'): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'WorkloadGroup',
    metadata: { name: 'vms', namespace: 'shop', uid },
    spec: { template: { serviceAccount: 'vm', labels: { app: 'db' } }, ...spec },
  };
}

export function machineNode(metadata: JsonObject = {}, ip = '10.1.2.3'): JsonObject {
  return {
    id: `sidecar~${ip}~vm-1.shop~shop.svc.cluster.local`,
    metadata: { NAMESPACE: 'shop', SERVICE_ACCOUNT: 'vm', AUTO_REGISTER_GROUP: 'vms', ...metadata },
  };
}

export class Scene {
  state: State = emptyState;
  now = 1_700_000_000_000;
  readonly registrar: Registrar;
  readonly lines: string[] = [];
  readonly counted: string[] = [];
  #timers: { readonly at: number; readonly run: () => void }[] = [];

  constructor(options: Partial<RegistrarOptions> = {}, env: Readonly<Record<string, string>> = {}) {
    this.registrar = new Registrar({
      cluster: 'Kubernetes',
      controller: 'one',
      isWritten: false,
      graceMs: GRACE_MS,
      connectionAgeMsMax: 1_800_000,
      log: (_, line) => this.lines.push(line),
      observe: what => this.counted.push(what),
      ...options,
      clock: { now: () => this.now, after: (ms, run) => this.#after(ms, run) },
    });
    this.fold([{ source: 'runtime', kind: 'Engine', settings: settingsToJson({ ...defaultSettings, env }) }]);
  }

  fold(facts: readonly Unrecorded[]): void {
    this.state = foldFacts(facts, this.state).state;
    this.registrar.onState(this.state);
  }

  put(...objects: readonly JsonObject[]): this {
    this.fold(objects.map(object => ({ source: 'kube/Kubernetes', kind: 'Update', object })));
    return this;
  }

  remove(kind: string, name: string): void {
    const ref = { apiVersion: 'networking.istio.io/v1', kind, namespace: 'shop', name };
    this.fold([{ source: 'kube/Kubernetes', kind: 'Delete', ref }]);
  }

  async start(): Promise<this> {
    const { source } = this.registrar;
    const say = async (facts: readonly Fact[]): Promise<void> => this.fold(facts.map(fact => ({ source, ...fact })));
    await this.registrar.start({
      submit: say,
      relist: say,
      relistKinds: async (kinds, all) => {
        const gone = [...this.state.records.values()].filter(
          record => record.source === source && kinds.includes(record.kind) && record.raw !== undefined,
        );
        const names = new Set(all.map(fact => ('object' in fact ? JSON.stringify(nameIn(fact.object)) : '')));
        const deleted: Fact[] = gone
          .filter(({ raw }) => !names.has(JSON.stringify(nameIn(raw!))))
          .map(({ raw, kind }) => ({
            kind: 'Delete',
            ref: { apiVersion: String(raw!.apiVersion), kind, ...nameIn(raw!) },
          }));
        await say([...deleted, ...all]);
      },
      holds: () => false,
    });
    return this;
  }

  async connect(connection: string, node: JsonObject, identity = IDENTITY): Promise<void> {
    const facts = proxyFacts(connection, node).map(fact => ({ ...fact, identities: [identity] }) as Unrecorded);
    this.fold(facts);
    this.registrar.connected(connection);
    await settled();
  }

  async disconnect(connection: string): Promise<void> {
    this.fold([{ source: 'xds', kind: 'ProxyDisconnected', connection, reason: 'gone' }]);
    this.registrar.disconnected(connection);
    await settled();
  }

  async health(connection: string, healthy: boolean, message = ''): Promise<void> {
    this.registrar.health(connection, healthy, message);
    await settled();
  }

  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > until) break;
      this.now = next.at;
      this.#timers = this.#timers.filter(timer => timer !== next);
      next.run();
      await settled();
    }
    this.now = until;
    await settled();
  }

  entry(name = 'vms-10.1.2.3'): Obj<'WorkloadEntry'> | undefined {
    return this.state.objects.WorkloadEntry.get(`shop/${name}`) as Obj<'WorkloadEntry'> | undefined;
  }

  wishes(): readonly Wish[] {
    const { wishes } = new Tracker().get(this.state, undefined, wishTable, '');
    return wishes.filter(({ kind }) => kind === 'WorkloadEntry');
  }

  #after(ms: number, run: () => void): { cancel(): void } {
    const timer = { at: this.now + ms, run };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter(other => other !== timer);
      },
    };
  }
}

function nameIn(object: JsonObject): { readonly namespace: string; readonly name: string } {
  const { namespace, name } = object.metadata as { readonly namespace: string; readonly name: string };
  return { namespace, name };
}

/** What was submitted is folded a few turns later. */
async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}
