// The format of a schema: what fields a JSON object may have, as data, so that one decoder serves every kind. Istio's
// is generated from descriptors (istio-schema.gen.ts); the few Kubernetes kinds are written by hand in the same format.

/**
 * What a value that is not a message looks like in JSON, and what it is decoded to: string, bool: themselves; int32,
 * uint32, int64, uint64: number or its decimal text → number; float, double: also "NaN", "Infinity", "-Infinity";
 * bytes: base64 (standard or URL alphabet) → padded standard base64; duration: Go's syntax ("1h30m", "0.5s") →
 * Duration; timestamp: RFC 3339 text → the same text; struct: an object, kept; value: anything, kept; any: an object
 * whose `@type` names a message of the schema, and whose other members are its fields → kept as it is; intOrString: an
 * int32 or a string, kept.
 */
export type ScalarType =
  | 'string'
  | 'bool'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'uint64'
  | 'float'
  | 'double'
  | 'bytes'
  | 'duration'
  | 'timestamp'
  | 'struct'
  | 'value'
  | 'any'
  | 'intOrString';

export type FieldType = ScalarType | { readonly message: string } | { readonly enum: string };

export interface SchemaField {
  /** The JSON name. */
  readonly name: string;
  /** The second name that is accepted, where it differs: the proto one (snake_case). */
  readonly protoName?: string;
  readonly type: FieldType;
  readonly repeated?: true;
  /** An object of values of `type`, by keys of this type. */
  readonly map?: 'string' | 'uint32';
  /** Of the fields of one group at most one may be set. */
  readonly oneof?: string;
}

export type SchemaMessage = readonly SchemaField[];
/** Names to numbers. */
export type SchemaEnum = Readonly<Record<string, number>>;

export interface Schema {
  /** By full name. */
  readonly messages: Readonly<Record<string, SchemaMessage>>;
  readonly enums: Readonly<Record<string, SchemaEnum>>;
  /**
   * True: numbers are numbers, as in Go's encoding/json, by which the API server decodes its own kinds (a port "80" is
   * refused). Otherwise as in protojson, by which Istio's are decoded.
   */
  readonly strictNumbers?: boolean;
}
