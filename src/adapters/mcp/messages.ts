// The messages of a state-of-the-world stream that carries configuration: requests to bytes, and answers to objects as
// Kubernetes would have them. A resource that cannot be decoded is a problem with its name, never a missing object.

import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import protojson from 'protobufjs/ext/protojson.js';
import type { JsonObject } from '../../core/base/json.ts';
import type { ObjectRef, RawObject } from '../../core/event.ts';
import type { McpKind } from '../../core/model/mcp-kinds.ts';
import { REASONS_MAX } from './limits.ts';

export interface McpRequest {
  readonly typeUrl: string;
  readonly versionInfo?: string;
  readonly responseNonce?: string;
  readonly node?: { readonly id: string; readonly metadata: JsonObject };
}

interface AnyMessage {
  readonly typeUrl?: string;
  readonly value?: Uint8Array;
}

export interface McpResponse {
  readonly typeUrl: string;
  readonly versionInfo: string;
  readonly nonce: string;
  readonly resources: readonly AnyMessage[];
}

/** The objects of one answer, which are all of its kind. */
export interface KindObjects {
  readonly objects: readonly RawObject[];
  /** Objects that are there and cannot be decoded. */
  readonly undecodable: readonly ObjectRef[];
  /** A resource whose name cannot be told: any object may still be there. */
  readonly isPartial: boolean;
  readonly reasons: readonly string[];
}

const ENVELOPE = 'istio.mcp.v1alpha1.Resource';
const ANY_PREFIX = 'type.googleapis.com/';

let loaded: protobuf.Root | undefined;

function typeOf(name: string): protobuf.Type {
  if (loaded === undefined) {
    const text = readFileSync(new URL('../../core/schema/istio-api.gen.json', import.meta.url), 'utf8');
    loaded = protobuf.Root.fromJSON(JSON.parse(text) as protobuf.INamespace).resolveAll() as protobuf.Root;
  }
  return loaded.lookupType(name);
}

export function encodeRequest({ node, ...request }: McpRequest): Buffer {
  const type = typeOf('discovery.DiscoveryRequest');
  return Buffer.from(
    type.encode(protojson.fromJson(type, { ...request, ...(node === undefined ? {} : { node }) })).finish(),
  );
}

/** Throws if it is no response. */
export function decodeResponse(bytes: Buffer): McpResponse {
  const {
    typeUrl = '',
    versionInfo = '',
    nonce = '',
    resources = [],
  } = typeOf('discovery.DiscoveryResponse').decode(bytes) as Partial<McpResponse>;
  return { typeUrl, versionInfo, nonce, resources };
}

export function answerOf(kind: McpKind, { resources }: McpResponse): KindObjects {
  const objects: RawObject[] = [];
  const undecodable: ObjectRef[] = [];
  const reasons: string[] = [];
  let isPartial = false;
  resources.forEach((resource, i) => {
    const found = resourceOf(kind, resource);
    if ('object' in found) objects.push(found.object);
    else {
      reasons.push(`resource ${i}: ${found.why}`);
      if (found.ref === undefined) isPartial = true;
      else undecodable.push(found.ref);
    }
  });
  return { objects, undecodable, isPartial, reasons: reasons.slice(0, REASONS_MAX) };
}

type Found = { readonly object: RawObject } | { readonly why: string; readonly ref?: ObjectRef };

interface Envelope {
  readonly metadata?: null | {
    readonly name?: string;
    readonly createTime?: protobuf.Message | null;
    readonly version?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly body?: AnyMessage | null;
}

function resourceOf(kind: McpKind, { typeUrl = '', value = new Uint8Array() }: AnyMessage): Found {
  if (typeUrl !== ANY_PREFIX + ENVELOPE) return { why: `${typeUrl} is not ${ENVELOPE}` };
  let envelope: Envelope;
  try {
    envelope = typeOf(ENVELOPE).decode(value) as Envelope;
  } catch (error) {
    return { why: `the envelope cannot be decoded (${(error as Error).message})` };
  }
  // Absent messages are null in what protobufjs decodes.
  const metadata = envelope.metadata ?? {};
  const body = envelope.body ?? {};
  const [namespace = '', name = '', ...more] = (metadata.name ?? '').split('/');
  if (name === '' || more.length > 0) return { why: `"${metadata.name ?? ''}" is not namespace/name` };
  const ref = { apiVersion: kind.apiVersion, kind: kind.kind, namespace, name };
  if (body.typeUrl !== ANY_PREFIX + kind.message)
    return { why: `${namespace}/${name}: ${body.typeUrl} is not ${kind.message}`, ref };
  try {
    const type = typeOf(kind.message);
    const spec = protojson.toJson(type, type.decode(body.value ?? new Uint8Array())) as JsonObject;
    return {
      object: { apiVersion: kind.apiVersion, kind: kind.kind, metadata: metaOf(namespace, name, metadata), spec },
    };
  } catch (error) {
    return { why: `${namespace}/${name}: the body cannot be decoded (${(error as Error).message})`, ref };
  }
}

/** An absent time of creation counts as zero: the time of arrival would differ between replicas. */
function metaOf(namespace: string, name: string, metadata: NonNullable<Envelope['metadata']>): JsonObject {
  const { createTime, version = '', labels = {}, annotations = {} } = metadata;
  const created = createTime === undefined || createTime === null ? {} : { creationTimestamp: createdAt(createTime) };
  return {
    name,
    namespace,
    ...created,
    ...(version === '' ? {} : { resourceVersion: version }),
    ...(Object.keys(labels).length === 0 ? {} : { labels: { ...labels } }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations: { ...annotations } }),
  };
}

function createdAt(time: protobuf.Message): string {
  return String(protojson.toJson(typeOf('google.protobuf.Timestamp'), time)).replace(/\.\d+Z$/, 'Z');
}
