// Requests and responses of the discovery service (envoy/service/discovery/v3/discovery.proto). A response is a
// concatenation of frames that engine/encode.ts made once for each resource; it is not encoded again for the next
// proxy. A request is decoded into plain data.

import type { JsonObject } from '../../core/base/json.ts';
import { hasMoreFields } from '../wire/count-fields.ts';
import { framed, framedString } from '../wire/frame.ts';
import { toJson } from '../wire/protojson.ts';
import { type Plain, typeOf } from '../wire/registry.ts';
import { eachText } from '../wire/text-fields.ts';

export interface ErrorDetail {
  /** google.rpc.Code. */
  readonly code: number;
  readonly message: string;
}

/** Absent strings and lists are empty. */
export interface DiscoveryRequestData {
  readonly versionInfo: string;
  /** envoy.config.core.v3.Node in protojson; required only in the first request of a stream. */
  readonly node: JsonObject | undefined;
  readonly resourceNames: readonly string[];
  readonly typeUrl: string;
  readonly responseNonce: string;
  /** Present in a NACK of the response with that nonce. */
  readonly errorDetail: ErrorDetail | undefined;
}

export interface DeltaDiscoveryRequestData {
  readonly node: JsonObject | undefined;
  readonly typeUrl: string;
  readonly resourceNamesSubscribe: readonly string[];
  readonly resourceNamesUnsubscribe: readonly string[];
  /** Resource name → version that the proxy holds; only in the first request of a type. */
  readonly initialResourceVersions: Readonly<Record<string, string>>;
  readonly responseNonce: string;
  readonly errorDetail: ErrorDetail | undefined;
}

export interface DiscoveryResponseParts {
  readonly versionInfo: string;
  readonly typeUrl: string;
  readonly nonce: string;
  /** The parts of `sotwFrame` of each resource. */
  readonly frames: readonly Buffer[];
  /** ControlPlane.identifier; omitted if empty or absent. */
  readonly controlPlane?: string;
}

export interface DeltaDiscoveryResponseParts {
  readonly systemVersionInfo: string;
  readonly typeUrl: string;
  readonly nonce: string;
  /** The parts of `deltaFrame` of each resource. */
  readonly frames: readonly Buffer[];
  readonly removed: readonly string[];
  readonly controlPlane?: string;
}

/** An encoded DiscoveryResponse. */
export function discoveryResponse(parts: DiscoveryResponseParts): Buffer {
  return Buffer.concat(discoveryPieces(parts));
}

/** The pieces of the encoded message, in order; frames are not copied. */
export function discoveryPieces(parts: DiscoveryResponseParts): readonly Buffer[] {
  return [
    framedString(1, parts.versionInfo),
    ...parts.frames,
    framedString(4, parts.typeUrl),
    framedString(5, parts.nonce),
    controlPlane(6, parts.controlPlane),
  ];
}

/** An encoded DeltaDiscoveryResponse. */
export function deltaDiscoveryResponse(parts: DeltaDiscoveryResponseParts): Buffer {
  return Buffer.concat(deltaDiscoveryPieces(parts));
}

/** The pieces of the encoded message, in order; frames are not copied. */
export function deltaDiscoveryPieces(parts: DeltaDiscoveryResponseParts): readonly Buffer[] {
  return [
    framedString(1, parts.systemVersionInfo),
    ...parts.frames,
    framedString(4, parts.typeUrl),
    framedString(5, parts.nonce),
    // `framed`, since `framedString` would omit an empty name, which is valid in a repeated field.
    ...parts.removed.map(name => framed(6, Buffer.from(name, 'utf8'))),
    controlPlane(7, parts.controlPlane),
  ];
}

function controlPlane(fieldNumber: number, identifier: string | undefined): Buffer {
  return identifier === undefined || identifier === ''
    ? Buffer.alloc(0)
    : framed(fieldNumber, framedString(1, identifier));
}

/** Throws if the bytes are not a DiscoveryRequest. */
export function decodeDiscoveryRequest(bytes: Uint8Array): DiscoveryRequestData {
  const plain = plainRequest(bytes);
  if (plain !== undefined) return plain;
  const message = decoded(bytes, 'envoy.service.discovery.v3.DiscoveryRequest');
  return {
    versionInfo: text(message.versionInfo),
    node: nodeJson(message.node),
    resourceNames: texts(message.resourceNames),
    typeUrl: text(message.typeUrl),
    responseNonce: text(message.responseNonce),
    errorDetail: errorDetail(message.errorDetail),
  };
}

/** Throws if the bytes are not a DeltaDiscoveryRequest. */
export function decodeDeltaDiscoveryRequest(bytes: Uint8Array): DeltaDiscoveryRequestData {
  const plain = plainDeltaRequest(bytes);
  if (plain !== undefined) return plain;
  const message = decoded(bytes, 'envoy.service.discovery.v3.DeltaDiscoveryRequest');
  return {
    node: nodeJson(message.node),
    typeUrl: text(message.typeUrl),
    resourceNamesSubscribe: texts(message.resourceNamesSubscribe),
    resourceNamesUnsubscribe: texts(message.resourceNamesUnsubscribe),
    initialResourceVersions: { ...((message.initialResourceVersions ?? {}) as Readonly<Record<string, string>>) },
    responseNonce: text(message.responseNonce),
    errorDetail: errorDetail(message.errorDetail),
  };
}

/** Fields of the node of a request, and of its error_detail; a stock Envoy with its extensions has some 5,000. */
export const NODE_FIELDS_MAX = 16_384;

function decoded(bytes: Uint8Array, name: string): Plain {
  const type = typeOf(name);
  if (hasMoreFields(bytes, type, ['node', 'errorDetail'], NODE_FIELDS_MAX)) {
    throw new Error(`its node and error_detail have more than ${NODE_FIELDS_MAX} fields`);
  }
  return type.decode(bytes) as unknown as Plain;
}

/** The fast path for requests without node and error_detail; undefined: use the general decoder. */
function plainRequest(bytes: Uint8Array): DiscoveryRequestData | undefined {
  let [versionInfo, typeUrl, responseNonce] = ['', '', ''];
  const resourceNames: string[] = [];
  const isPlain = eachText(bytes, (field, value) => {
    if (field === 1) versionInfo = value;
    else if (field === 3) resourceNames.push(value);
    else if (field === 4) typeUrl = value;
    else if (field === 5) responseNonce = value;
    else return false;
    return true;
  });
  if (!isPlain) return undefined;
  return { versionInfo, node: undefined, resourceNames, typeUrl, responseNonce, errorDetail: undefined };
}

/** As above, and without initial_resource_versions. */
function plainDeltaRequest(bytes: Uint8Array): DeltaDiscoveryRequestData | undefined {
  let [typeUrl, responseNonce] = ['', ''];
  const subscribe: string[] = [];
  const unsubscribe: string[] = [];
  const isPlain = eachText(bytes, (field, value) => {
    if (field === 2) typeUrl = value;
    else if (field === 3) subscribe.push(value);
    else if (field === 4) unsubscribe.push(value);
    else if (field === 6) responseNonce = value;
    else return false;
    return true;
  });
  if (!isPlain) return undefined;
  return {
    node: undefined,
    typeUrl,
    resourceNamesSubscribe: subscribe,
    resourceNamesUnsubscribe: unsubscribe,
    initialResourceVersions: {},
    responseNonce,
    errorDetail: undefined,
  };
}

function nodeJson(node: unknown): JsonObject | undefined {
  if (node === undefined || node === null) return undefined;
  return toJson(typeOf('envoy.config.core.v3.Node'), node as Plain) as JsonObject;
}

function errorDetail(status: unknown): ErrorDetail | undefined {
  if (status === undefined || status === null) return undefined;
  const { code, message } = status as { readonly code?: number; readonly message?: string };
  return { code: code ?? 0, message: message ?? '' };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]).slice() : [];
}
