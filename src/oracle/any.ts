// Reads what stands in a google.protobuf.Any. Generated resources hold such messages unpacked (src/xds/proto/any.ts),
// with their type beside the fields.

import type { AnyMessage, TypeMap } from '../xds/proto/types.gen.ts';

/** The message in `any`, if it is of this type. */
export function messageOf<K extends keyof TypeMap>(type: K, any: AnyMessage | undefined): TypeMap[K] | undefined {
  return typeIn(any) === type ? (any as TypeMap[K]) : undefined;
}

/** The full name of the message in `any`, or ''. */
export function typeIn(any: AnyMessage | undefined): string {
  const url = any?.['@type'] ?? '';
  return url.slice(url.lastIndexOf('/') + 1);
}
