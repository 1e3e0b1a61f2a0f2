// The form of the rules that Envoy's API carries for the values of its messages (envoy-constraints.gen.ts), in the
// words of protoc-gen-validate, without the type of the value.

export interface ValueRule {
  readonly required?: boolean;
  readonly disallowed?: boolean;
  /** The value is one that the enum has. */
  readonly defined?: boolean;
  /** Numbers, and durations in seconds. */
  readonly gt?: number;
  readonly gte?: number;
  readonly lt?: number;
  readonly lte?: number;
  /** In code points, or bytes of a `bytes` field. */
  readonly minLen?: number;
  readonly maxLen?: number;
  /** In bytes of UTF-8. */
  readonly minBytes?: number;
  readonly maxBytes?: number;
  readonly pattern?: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly text?: string;
  readonly const?: boolean | number | string;
  readonly in?: readonly (number | string)[];
  readonly notIn?: readonly (number | string)[];
  /** An empty value is not looked at. */
  readonly ignoreEmpty?: boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly unique?: boolean;
  readonly minPairs?: number;
  readonly maxPairs?: number;
  /** Of the elements of a list, the keys and the values of a map. */
  readonly items?: ValueRule;
  readonly keys?: ValueRule;
  readonly values?: ValueRule;
}

export interface MessageConstraint {
  /** Groups of members of which one must be set. */
  readonly oneofs?: readonly (readonly string[])[];
  readonly fields: Readonly<Record<string, ValueRule>>;
}
