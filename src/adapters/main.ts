// The entry `periplus/adapter`: what a source of one's own needs. An adapter submits facts about objects; a registry of
// services is a catalogue, and one that is polled is a function. The rig of law 9 tells whether an adapter is right.
// docs/guides/write-an-adapter.md shows both.

export type { Json, JsonObject } from '../core/base/json.ts';
export type { Origin } from '../core/base/problem.ts';
export type { Fact, ObjectRef, RawObject } from '../core/event.ts';
export {
  FoldingSink,
  liveChanges,
  type RigSource,
  relistAfterGap,
  reorderedSources,
  resync,
  unreadablePart,
} from '../testing/adapter-rig.ts';
export { type RegistryUnderTest, type RigService, registrySource } from '../testing/registry-rig.ts';
export type { Adapter, AdapterLog, ObjectPlace, Sink, SourcePart, SourceStatus, Unreadable } from './adapter.ts';
export { type BackoffBounds, backoffMs } from './kit/backoff.ts';
export { Catalogue, type CatalogueOptions } from './kit/catalogue.ts';
export { type Chance, sleep } from './kit/clock.ts';
export { type ClientTls, getJson, type JsonAnswer, type JsonRequest } from './kit/http-json.ts';
export { PolledRegistry, type PolledRegistryOptions, type RegistryRead } from './kit/polled-registry.ts';
export type { RegistryInstance, RegistryPort, RegistryService } from './kit/registry-service.ts';
export { Submissions } from './kit/submissions.ts';
export { Turns } from './kit/turns.ts';
