// Reading objects as their API describes them, without the schema code of the core: the model of the API must be an
// opinion of its own.

import type { Json, JsonObject } from '../../../src/core/base/json.ts';

export const ROOT_NAMESPACE = 'istio-system';
const DOMAIN = 'svc.cluster.local';

export function objectIn(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function listIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}

export function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

export const specOf = (object: JsonObject): JsonObject => objectIn(object.spec);
export const nameOf = (object: JsonObject): string => textIn(objectIn(object.metadata).name);
export const namespaceOf = (object: JsonObject): string => textIn(objectIn(object.metadata).namespace);

/** By age, name and namespace, as Istio breaks ties. Objects without a timestamp are the oldest. */
export function inOrder(objects: readonly JsonObject[]): readonly JsonObject[] {
  const key = (object: JsonObject): string =>
    `${textIn(objectIn(object.metadata).creationTimestamp)} ${nameOf(object)} ${namespaceOf(object)}`;
  return [...objects].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

/** A name without a dot is a service of the object's own namespace. */
export function fullHost(host: string, namespace: string): string {
  return host === '*' || host.includes('.') ? host : `${host}.${namespace}.${DOMAIN}`;
}

export const serviceHost = (name: string, namespace: string): string => `${name}.${namespace}.${DOMAIN}`;

export function includes(labels: JsonObject, selector: JsonObject): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** `*.example.com` stands for every name that ends so. */
export function covers(wildcard: string, host: string): boolean {
  return wildcard.startsWith('*') && host.endsWith(wildcard.slice(1));
}

/** Seconds of a duration such as 0.25s, 5m or 1h. */
export function seconds(duration: string): number {
  const unit = { s: 1, m: 60, h: 3_600 }[duration.slice(-1)] ?? Number.NaN;
  return Number(duration.slice(0, -1)) * unit;
}

/** Digits of shares in texts. */
export const SHARE_DIGITS = 6;
