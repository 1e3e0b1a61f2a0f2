// Go structs and messages over their JSON: `.Spec.DNSPolicy` reads `dnsPolicy`, `.GetTracing` reads `tracing` and is
// nil-safe, `.InterceptionMode.String` is the name of the enum. What is not there is the zero value of a struct, not an
// absent member; a text map's missing key is ''.
//
// The type of an absent field is not known here, so one zero value stands for all (value.ts, ZERO). Source: Go
// text/template/exec.go (evalField), protoc-gen-go (getters).

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { type Value, Viewed, ZERO } from './value.ts';

/** Fields of Kubernetes' types that are maps of texts. */
const TEXT_MAPS: readonly string[] = [
  'annotations',
  'labels',
  'nodeSelector',
  'matchLabels',
  'limits',
  'requests',
  'overhead',
  'proxyMetadata',
  'runtimeValues',
];

/** In the order of Go's struct, where it is not that of the names: a port of a container. */
const STRUCT_ORDER: readonly string[] = ['name', 'hostPort', 'containerPort', 'protocol', 'hostIP'];

/** map[string]string */
export class TextMapView extends Viewed {
  readonly typeName = 'map[string]string';
  readonly #map: JsonObject;

  constructor(map: JsonObject) {
    super();
    this.#map = map;
  }

  field(name: string): Value {
    return Object.hasOwn(this.#map, name) ? text(this.#map[name]) : undefined;
  }

  element(key: string): Value {
    return Object.hasOwn(this.#map, key) ? text(this.#map[key]) : '';
  }

  override has(key: string): boolean {
    return Object.hasOwn(this.#map, key);
  }

  entries(): readonly (readonly [string, Value])[] {
    return Object.keys(this.#map)
      .sort()
      .map(key => [key, text(this.#map[key])] as const);
  }

  isTrue(): boolean {
    return Object.keys(this.#map).length > 0;
  }

  json(): Json {
    return Object.fromEntries(this.entries()) as JsonObject;
  }
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === null || value === undefined ? '' : String(value);
}

/** A struct, or a message of which every member is optional. */
export class StructView extends Viewed {
  readonly typeName: string;
  readonly #json: JsonObject;
  readonly #own: { readonly [field: string]: Value };

  /** `own`: fields that are no members of the JSON; they go first. */
  constructor(json: JsonObject, own: { readonly [field: string]: Value } = {}, typeName = 'struct') {
    super();
    this.#json = json;
    this.#own = own;
    this.typeName = typeName;
  }

  field(name: string): Value {
    if (Object.hasOwn(this.#own, name)) return this.#own[name];
    const member = jsonName(name);
    if (Object.hasOwn(this.#json, member)) return viewOf(this.#json[member], member);
    if (/^Get[A-Z]/.test(name) && !Object.hasOwn(this.#json, member)) return this.field(name.slice(3));
    return TEXT_MAPS.includes(member) ? new TextMapView({}) : ZERO;
  }

  element(): Value {
    return undefined;
  }

  entries(): undefined {
    return undefined;
  }

  isTrue(): boolean {
    return true;
  }

  json(): Json {
    return this.#json;
  }

  /** The members as Go writes a struct. */
  ordered(): JsonObject {
    const names = Object.keys(this.#json);
    if (!names.every(name => STRUCT_ORDER.includes(name))) return this.#json;
    const sorted = names.sort((a, b) => STRUCT_ORDER.indexOf(a) - STRUCT_ORDER.indexOf(b));
    return Object.fromEntries(sorted.map(name => [name, this.#json[name]])) as JsonObject;
  }
}

/** Numbers of structs are integers there. */
export function viewOf(value: Json | undefined, member = ''): Value {
  if (value === undefined || value === null) return TEXT_MAPS.includes(member) ? new TextMapView({}) : ZERO;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(element => viewOf(element));
  if (!isObject(value)) return undefined;
  return TEXT_MAPS.includes(member) ? new TextMapView(value) : new StructView(value);
}

/** `DNSPolicy` → `dnsPolicy`, `APIVersion` → `apiVersion`, `UID` → `uid`. */
export function jsonName(name: string): string {
  const run = /^[A-Z]+/.exec(name)?.[0] ?? '';
  if (run.length <= 1 || run.length === name.length)
    return name.slice(0, run.length).toLowerCase() + name.slice(run.length);
  // The last capital of a run begins the next word, except of a plural: `PodIPs` begins with one capital anyway.
  return name.slice(0, run.length - 1).toLowerCase() + name.slice(run.length - 1);
}
