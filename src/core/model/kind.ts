// The kinds as types. Each kind adds its own member to KindTypes, in the file that declares it (src/core/kinds), by
// declaration merging:
//
//     declare module '../../model/kind.ts' {
//       interface KindTypes {
//         readonly Pod: { readonly spec: PodData; readonly indexes: 'podsByIp' | 'podsByNode'; readonly push: 'own' };
//       }
//     }
//
// So the model knows every kind by name and imports none: objects name their kinds, kinds name objects, and no file
// imports in a circle. The compiler checks that each kind declared here is defined (kinds/registry.ts), and that each
// kind with its own push rule has a handler (handlers/).

/** One member a kind, each of the shape KindType. */
// biome-ignore lint/suspicious/noEmptyInterface: the kinds add the members
export interface KindTypes {}

export interface KindType {
  /**
   * Decoded content. Istio kinds: the spec as istio-types.gen.ts has it (presence kept: an absent field is undefined),
   * for two of them with the part of the status that generation reads. Kubernetes kinds: what Periplus uses of the
   * whole object, flattened.
   */
  readonly spec: unknown;
  /** Names of its secondary indexes; absent for kinds that are found by key alone. */
  readonly indexes?: string;
  readonly push: Push;
}

/**
 * The push request of a change of an object. `config`: a full push that names the object, as Istio's config handler
 * does; `own`: a handler of its own (handlers/handlers.ts); `none`: nothing that a proxy is sent is made of the kind.
 */
export type Push = 'config' | 'own' | 'none';

export type KindName = keyof KindTypes;
export type KindSpecs = { readonly [K in KindName]: KindTypes[K]['spec'] };
export type KindPushes = { readonly [K in KindName]: KindTypes[K]['push'] };

/** Names of the indexes of a kind; never for a kind without any. */
export type IndexesOf<K extends KindName> = KindTypes[K] extends { readonly indexes: infer I extends string }
  ? I
  : never;
/** Secondary indexes: name → kind that is found by it. The kind's file defines the keys. */
export type Indexes = { readonly [K in KindName as IndexesOf<K>]: K };
export type IndexName = keyof Indexes;
/** Index name → keys under which one object is found. */
export type IndexEntries = Readonly<Partial<Record<IndexName, readonly string[]>>>;
