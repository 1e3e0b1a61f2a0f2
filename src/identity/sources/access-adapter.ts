// May an account list the Secrets of its namespace? The answers of the API server (SubjectAccessReview), as objects of
// the source `access/<cluster>`. Asked for the accounts of the cluster's connected proxies that subscribe to Secrets
// over SDS, and kept as long as istiod keeps them: five minutes if allowed, one if denied.
//
// Invariants: without an answer nothing is allowed; one that cannot be had changes nothing, so the last one stays; an
// account without a subscribed proxy is forgotten.
// Source: Istio pilot/pkg/credentials/kube/secrets.go (Authorize, cachedAuthorization).

import type { Adapter, AdapterLog, Sink, SourceStatus } from '../../adapters/adapter.ts';
import { isObject, type Json } from '../../core/base/json.ts';
import { IDENTITY_API, identityObject } from '../../core/kinds/periplus/identity.ts';
import { OWN_SECRET } from '../../core/model/credential-name.ts';
import { verifiedIdentity } from '../../core/model/identity.ts';
import { CA_SUFFIX } from '../../core/select/secret/gateway-references.ts';
import type { State } from '../../core/state.ts';
import { type ClusterCall, refusalOf } from '../cluster-call.ts';

export interface AccessAdapterOptions {
  readonly cluster: string;
  readonly call: ClusterCall;
  /** Runs once, not before `ms` have passed. */
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  readonly log: AdapterLog;
}

const SECRETS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
export const ALLOWED_MS = 300_000;
export const DENIED_MS = 60_000;
export const RETRY_MS = 5_000;
/** Proxies connect in crowds. */
const GATHER_MS = 20;
/** Accounts asked about at once. */
const AT_ONCE_MAX = 8;
const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const FORBIDDEN = 403;

export class AccessAdapter implements Adapter {
  readonly source: string;
  readonly #options: AccessAdapterOptions;
  /** `namespace/account` → when it is asked about again; undefined: it is being asked about, or waits for its turn. */
  readonly #known = new Map<string, { cancel(): void } | undefined>();
  readonly #waiting: string[] = [];
  readonly #troubles = new Map<string, string>();
  #asking = 0;
  #state: State | undefined;
  #proxies: State['proxies'] | undefined;
  #gathering: { cancel(): void } | undefined;
  #sink: Sink | undefined;
  #isStopped = false;
  #saying: Promise<void> = Promise.resolve();

  constructor(options: AccessAdapterOptions) {
    this.#options = options;
    this.source = `access/${options.cluster}`;
  }

  onState(state: State): void {
    this.#state = state;
    if (state.proxies === this.#proxies || this.#gathering !== undefined) return;
    this.#gathering = this.#options.after(GATHER_MS, () => {
      this.#gathering = undefined;
      this.#gather();
    });
  }

  /** Answers of an earlier process serve until there are new ones. */
  async start(sink: Sink): Promise<void> {
    this.#sink = sink;
    this.#proxies = undefined;
    this.#gather();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#gathering?.cancel();
    for (const timer of this.#known.values()) timer?.cancel();
    await this.#saying;
  }

  status(): SourceStatus {
    const isStarted = this.#sink !== undefined;
    const troubles = [...new Set(this.#troubles.values())].sort();
    return { synced: isStarted, waiting: isStarted ? [] : ['SecretAccess'], troubles, unreadable: [] };
  }

  #gather(): void {
    const state = this.#state;
    if (state === undefined || state.proxies === this.#proxies || this.#sink === undefined || this.#isStopped) return;
    this.#proxies = state.proxies;
    const wanted = accountsIn(state, this.#options.cluster);
    for (const [account, timer] of this.#known) {
      if (wanted.has(account)) continue;
      timer?.cancel();
      this.#known.delete(account);
      this.#troubles.delete(account);
    }
    for (const { cluster, namespace, name } of state.objects.SecretAccess.values()) {
      const isOurs = cluster === this.#options.cluster;
      if (isOurs && !wanted.has(`${namespace}/${name}`)) this.#forget(namespace, name);
    }
    for (const account of wanted) if (!this.#known.has(account)) this.#ask(account);
  }

  #forget(namespace: string, name: string): void {
    this.#say({ kind: 'Delete', ref: { apiVersion: IDENTITY_API, kind: 'SecretAccess', namespace, name } });
  }

  #ask(account: string): void {
    this.#known.set(account, undefined);
    this.#waiting.push(account);
    this.#work();
  }

  #work(): void {
    while (this.#asking < AT_ONCE_MAX && !this.#isStopped) {
      const account = this.#waiting.shift();
      if (account === undefined) return;
      this.#asking++;
      void this.#review(account).finally(() => {
        this.#asking--;
        this.#work();
      });
    }
  }

  async #review(account: string): Promise<void> {
    const { call, after, log } = this.#options;
    const [namespace = '', name = ''] = account.split('/');
    const { status, body } = await call('POST', PATH, reviewOf(namespace, name));
    // Meanwhile its last proxy may have gone.
    if (!this.#known.has(account) || this.#isStopped) return;
    const isAnswer = status >= 200 && status < 300;
    const allowed = isAnswer && isAllowed(body);
    if (isAnswer || status === FORBIDDEN) {
      this.#say({ kind: 'Update', object: identityObject('SecretAccess', namespace, name, { allowed }) });
    }
    if (isAnswer) this.#troubles.delete(account);
    else {
      const why = `SubjectAccessReview: ${refusalOf(status, body)}`;
      if (this.#troubles.get(account) !== why) log('warn', `may ${account} read Secrets? ${why}`);
      this.#troubles.set(account, why);
    }
    const ms = isAnswer || status === FORBIDDEN ? (allowed ? ALLOWED_MS : DENIED_MS) : RETRY_MS;
    this.#known.set(
      account,
      after(ms, () => this.#ask(account)),
    );
  }

  #say(fact: Parameters<Sink['submit']>[0][number]): void {
    this.#saying = this.#saying
      .then(() => this.#sink?.submit([fact]))
      .catch((error: unknown) => this.#options.log('warn', `${this.source} could not record: ${String(error)}`));
  }
}

/** Accounts of a cluster whose proxies ask for a private key of their namespace. */
function accountsIn({ proxies, settings }: State, cluster: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const proxy of proxies.values()) {
    const names = proxy.subscriptions[SECRETS]?.names ?? [];
    if (!names.some(name => name.startsWith(OWN_SECRET) && !name.endsWith(CA_SUFFIX))) continue;
    const identity = verifiedIdentity(proxy);
    if (identity === undefined || (proxy.facets.clusterId || settings.clusterId) !== cluster) continue;
    found.add(`${identity.namespace}/${identity.serviceAccount}`);
  }
  return found;
}

function reviewOf(namespace: string, name: string): Json {
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: `system:serviceaccount:${namespace}:${name}`,
      resourceAttributes: { namespace, verb: 'list', resource: 'secrets', version: 'v1' },
    },
  };
}

function isAllowed(body: Json): boolean {
  return isObject(body) && isObject(body.status) && body.status.allowed === true && body.status.denied !== true;
}
