// Requests and responses of the discovery service (envoy/service/discovery/v3/discovery.proto). A response is a
// concatenation of frames that engine/encode.ts made once for each resource; it is not encoded again for the next
// proxy. A request is decoded into plain data.

import type { JsonObject } from '../../core/base/json.ts';
import { hasMoreFields, hasMoreOf } from '../wire/count-fields.ts';
import { framed, framedString, framedStrings } from '../wire/frame.ts';
import { toJson } from '../wire/protojson.ts';
import { type Plain, typeOf } from '../wire/registry.ts';
import { eachPart, eachText, textAt } from '../wire/text-fields.ts';

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
  readonly initialResourceVersions: ReadonlyMap<string, string>;
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
    framedStrings(6, parts.removed),
    controlPlane(7, parts.controlPlane),
  ];
}

function controlPlane(fieldNumber: number, identifier: string | undefined): Buffer {
  return identifier === undefined || identifier === ''
    ? Buffer.alloc(0)
    : framed(fieldNumber, framedString(1, identifier));
}

/** Throws if the bytes are not a DiscoveryRequest. */
export function decodeDiscoveryRequest(bytes: Uint8Array, namesMax = NAMES_MAX): DiscoveryRequestData {
  refuseMoreNames(bytes, SOTW_NAMES, namesMax);
  const plain = plainRequest(bytes);
  if (plain !== undefined) return plain;
  const message = decoded(bytes, SOTW_REQUEST);
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
export function decodeDeltaDiscoveryRequest(bytes: Uint8Array, namesMax = NAMES_MAX): DeltaDiscoveryRequestData {
  refuseMoreNames(bytes, DELTA_NAMES, namesMax);
  const plain = plainDeltaRequest(bytes);
  if (plain !== undefined) return plain;
  const message = decoded(bytes, DELTA_REQUEST);
  return {
    node: nodeJson(message.node),
    typeUrl: text(message.typeUrl),
    resourceNamesSubscribe: texts(message.resourceNamesSubscribe),
    resourceNamesUnsubscribe: texts(message.resourceNamesUnsubscribe),
    initialResourceVersions: new Map(Object.entries((message.initialResourceVersions ?? {}) as Record<string, string>)),
    responseNonce: text(message.responseNonce),
    errorDetail: errorDetail(message.errorDetail),
  };
}

const SOTW_REQUEST = 'envoy.service.discovery.v3.DiscoveryRequest';
const DELTA_REQUEST = 'envoy.service.discovery.v3.DeltaDiscoveryRequest';
/** Numbers of the fields that list names: resource_names; those of delta with initial_resource_versions. */
const SOTW_NAMES = new Set([3]);
const DELTA_NAMES = new Set([3, 4, 5]);

/** Fields of the node of a request, and of its error_detail; a stock Envoy with its extensions has some 5,000. */
export const NODE_FIELDS_MAX = 16_384;

/** Names and versions of one request: those of 64 bytes and more each are 4 MiB, the most that a request has. */
export const NAMES_MAX = 65_536;

/** A server that is set to take longer requests takes as many more names. */
export function namesMaxOf(requestBytesMax: number): number {
  return Math.max(NAMES_MAX, Math.floor(requestBytesMax / 64));
}

/** Before they are decoded: a million names of a byte are a turn of their own. */
function refuseMoreNames(bytes: Uint8Array, fields: ReadonlySet<number>, max: number): void {
  if (hasMoreOf(bytes, fields, max)) throw new Error(`it has more than ${max} names`);
}

function decoded(bytes: Uint8Array, name: string): Plain {
  const type = typeOf(name);
  refuseMoreFields(bytes, name);
  return type.decode(bytes) as unknown as Plain;
}

function refuseMoreFields(bytes: Uint8Array, name: string): void {
  if (hasMoreFields(bytes, typeOf(name), ['node', 'errorDetail'], NODE_FIELDS_MAX)) {
    throw new Error(`its node and error_detail have more than ${NODE_FIELDS_MAX} fields`);
  }
}

/** Messages in a request that is read without reflection. */
class Messages {
  readonly #found = new Map<'google.rpc.Status' | 'envoy.config.core.v3.Node', Buffer>();

  /** False: there is one already, and the general decoder decides. */
  add(name: 'google.rpc.Status' | 'envoy.config.core.v3.Node', bytes: Buffer): boolean {
    return !this.#found.has(name) && this.#found.set(name, bytes).size > 0;
  }

  /** Throws if they are none. `bytes`: the request, of type `name`. */
  decode(bytes: Uint8Array, name: string): Pick<DiscoveryRequestData, 'node' | 'errorDetail'> {
    if (this.#found.size > 0) refuseMoreFields(bytes, name);
    const [node, error] = (['envoy.config.core.v3.Node', 'google.rpc.Status'] as const).map(type => {
      const found = this.#found.get(type);
      return found === undefined ? undefined : typeOf(type).decode(found);
    });
    return { node: nodeJson(node), errorDetail: errorDetail(error) };
  }
}

/** The fast path for requests whose fields are all of their newest definition; undefined: use the general decoder. */
function plainRequest(bytes: Uint8Array): DiscoveryRequestData | undefined {
  let [versionInfo, typeUrl, responseNonce] = ['', '', ''];
  const resourceNames: string[] = [];
  const messages = new Messages();
  const isPlain = eachPart(bytes, (field, from, start, end) => {
    if (field === 2) return messages.add('envoy.config.core.v3.Node', from.subarray(start, end));
    if (field === 6) return messages.add('google.rpc.Status', from.subarray(start, end));
    const value = textAt(from, start, end);
    if (value === undefined) return false;
    if (field === 1) versionInfo = value;
    else if (field === 3) resourceNames.push(value);
    else if (field === 4) typeUrl = value;
    else if (field === 5) responseNonce = value;
    else return false;
    return true;
  });
  if (!isPlain) return undefined;
  return { versionInfo, resourceNames, typeUrl, responseNonce, ...messages.decode(bytes, SOTW_REQUEST) };
}

/** As above. */
function plainDeltaRequest(bytes: Uint8Array): DeltaDiscoveryRequestData | undefined {
  let [typeUrl, responseNonce] = ['', ''];
  const subscribe: string[] = [];
  const unsubscribe: string[] = [];
  const initial = new Map<string, string>();
  const messages = new Messages();
  const isPlain = eachPart(bytes, (field, from, start, end) => {
    if (field === 1) return messages.add('envoy.config.core.v3.Node', from.subarray(start, end));
    if (field === 5) return addEntry(initial, from.subarray(start, end));
    if (field === 7) return messages.add('google.rpc.Status', from.subarray(start, end));
    const value = textAt(from, start, end);
    if (value === undefined) return false;
    if (field === 2) typeUrl = value;
    else if (field === 3) subscribe.push(value);
    else if (field === 4) unsubscribe.push(value);
    else if (field === 6) responseNonce = value;
    else return false;
    return true;
  });
  if (!isPlain) return undefined;
  return {
    typeUrl,
    resourceNamesSubscribe: subscribe,
    resourceNamesUnsubscribe: unsubscribe,
    initialResourceVersions: initial,
    responseNonce,
    ...messages.decode(bytes, DELTA_REQUEST),
  };
}

/** An entry of a map of texts. */
function addEntry(to: Map<string, string>, entry: Buffer): boolean {
  let [key, value] = ['', ''];
  const isPlain = eachText(entry, (field, part) => {
    if (field === 1) key = part;
    else if (field === 2) value = part;
    else return false;
    return true;
  });
  if (isPlain) to.set(key, value);
  return isPlain;
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
