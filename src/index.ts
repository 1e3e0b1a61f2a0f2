// The entry `periplus`, for programs that embed the control plane: start it, bring sources, write objects, and ask what
// a proxy holds. Nothing inside src imports this file (`.dependency-cruiser.cjs`). What the entries name is the public
// API: docs/api/report.txt shows it in full, and what is not in there may change at any release. A name is exported
// once: facts and events by `periplus/journal`, what adapters are made of by `periplus/adapter`.

export type { Adapter } from './adapters/adapter.ts';
export type { DnsAnswer, Resolve } from './adapters/dns/resolver.ts';
export type { Fetch, Fetched } from './adapters/jwks/fetch.ts';
export type { ClusterConfigStore, ClusterWritten } from './adapters/kube/write/cluster-config-store.ts';
export { MemoryAdapter } from './adapters/memory/memory-adapter.ts';
export type { ZooKeeperBase } from './adapters/zookeeper/zookeeper-adapter.ts';
export type { Json, JsonObject } from './core/base/json.ts';
export { type Problem, showProblem } from './core/base/problem.ts';
export type { RawObject } from './core/event.ts';
export type { Settings } from './core/mesh/settings.ts';
export type { KindName } from './core/model/kind.ts';
export type { Obj } from './core/model/object.ts';
export type { State } from './core/state.ts';
export type {
  ConfigStore,
  ListOptions,
  ObjectName,
  Stored,
  StoreError,
  StoreSchema,
  Written,
} from './core/stores/config-store.ts';
export { MemoryStore } from './core/stores/memory-store.ts';
export type { IdentitySettings } from './identity/settings.ts';
export type { SecureTls } from './identity/tls-settings.ts';
export type { NatsAddress } from './replicas/nats/address.ts';
export type { AdapterOptions, KubeOptions, WriteOptions } from './runtime/adapters.ts';
export { type Clock, systemClock, type Timer } from './runtime/clock.ts';
export type { ConfigEvent, ConfigEventHandler } from './runtime/config-store.ts';
export { type EmbeddedConfig, type EmbeddedPlane, type EmbeddedStore, startControlPlane } from './runtime/embed.ts';
export type { IdentityOptions, TokenCheck } from './runtime/identity-options.ts';
export { type AdjustableLog, type Log, type LogLevel, type LogScope, makeLog } from './runtime/log.ts';
export type { ConsulRegistry, RegistryOptions, SecretText, TlsFiles, ZooKeeperRegistry } from './runtime/registries.ts';
export type { ReplicaSettings } from './runtime/replica-settings.ts';
export { type Address, type ServeOptions, settingsFrom } from './runtime/serve-options.ts';
