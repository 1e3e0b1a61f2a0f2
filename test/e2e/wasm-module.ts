// A Wasm module of the test's own, assembled here: it speaks the proxy-wasm ABI 0.2.1 and adds one header to every
// response. Small enough to be read whole; the comment beside each part is its WebAssembly text.

import { hash } from 'node:crypto';

export interface WasmModule {
  readonly bytes: Buffer;
  readonly sha256: string;
}

const I32 = 0x7f;
const FUNCTION = 0;
const MEMORY = 2;
/** Map type of proxy_add_header_map_value. */
const RESPONSE_HEADERS = 2;
/** Where the host's allocations begin. */
const HEAP_START = 4_096;

/** The module that adds the header `name: value`. */
export function headerModule(name: string, value: string): WasmModule {
  const text = Buffer.from(name + value);
  const bytes = Buffer.concat([
    Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
    section(1, vector(Object.values(types))),
    // (import "env" "proxy_add_header_map_value" (func $add (type $fiveToOne)))
    section(2, vector([Buffer.concat([named('env'), named('proxy_add_header_map_value'), byte(FUNCTION, 0)])])),
    section(3, vector(functions.map(({ type }) => byte(Object.keys(types).indexOf(type))))),
    // (memory (export "memory") 1)
    section(5, vector([byte(0, 1)])),
    // (global $heap (mut i32) (i32.const 4096))
    section(6, vector([Buffer.concat([byte(I32, 1, 0x41), signed(HEAP_START), byte(0x0b)])])),
    section(
      7,
      vector([
        Buffer.concat([named('memory'), byte(MEMORY, 0)]),
        ...functions.map((one, i) => Buffer.concat([named(one.name), byte(FUNCTION, i + 1)])),
      ]),
    ),
    section(10, vector(functions.map(({ body }) => sized(Buffer.concat([byte(0), body(name, value), byte(0x0b)]))))),
    // (data (i32.const 0) "…")
    section(11, vector([Buffer.concat([byte(0, 0x41, 0, 0x0b), sized(text)])])),
  ]);
  return { bytes, sha256: hash('sha256', bytes) };
}

const types = {
  fiveToOne: signature(5, 1),
  noneToNone: signature(0, 0),
  oneToOne: signature(1, 1),
  twoToNone: signature(2, 0),
  twoToOne: signature(2, 1),
  threeToOne: signature(3, 1),
};

interface Defined {
  readonly name: string;
  readonly type: keyof typeof types;
  readonly body: (name: string, value: string) => Buffer;
}

const nothing = (): Buffer => Buffer.alloc(0);
/** (i32.const 1): go on. */
const yes = (): Buffer => byte(0x41, 1);

const functions: readonly Defined[] = [
  { name: 'proxy_abi_version_0_2_1', type: 'noneToNone', body: nothing },
  // (global.get $heap) (global.set $heap (i32.add (global.get $heap) (local.get 0)))
  { name: 'malloc', type: 'oneToOne', body: () => byte(0x23, 0, 0x23, 0, 0x20, 0, 0x6a, 0x24, 0) },
  { name: 'proxy_on_context_create', type: 'twoToNone', body: nothing },
  { name: 'proxy_on_vm_start', type: 'twoToOne', body: yes },
  { name: 'proxy_on_configure', type: 'twoToOne', body: yes },
  // (drop (call $add (i32.const 2) (i32.const 0) (i32.const |name|) (i32.const |name|) (i32.const |value|)))
  // (i32.const 0): go on with the next filter
  {
    name: 'proxy_on_response_headers',
    type: 'threeToOne',
    body: (name, value) =>
      Buffer.concat([
        ...[RESPONSE_HEADERS, 0, name.length, name.length, value.length].map(constant),
        byte(0x10, 0, 0x1a, 0x41, 0),
      ]),
  },
];

function signature(parameters: number, results: number): Buffer {
  const list = (length: number): Buffer => Buffer.concat([unsigned(length), Buffer.alloc(length, I32)]);
  return Buffer.concat([byte(0x60), list(parameters), list(results)]);
}

function constant(value: number): Buffer {
  return Buffer.concat([byte(0x41), signed(value)]);
}

function section(id: number, content: Buffer): Buffer {
  return Buffer.concat([byte(id), sized(content)]);
}

function vector(items: readonly Buffer[]): Buffer {
  return Buffer.concat([unsigned(items.length), ...items]);
}

function named(text: string): Buffer {
  return sized(Buffer.from(text));
}

function sized(content: Buffer): Buffer {
  return Buffer.concat([unsigned(content.length), content]);
}

/** LEB128. */
function unsigned(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return byte(...bytes, rest);
}

function signed(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x3f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return byte(...bytes, rest);
}

function byte(...values: readonly number[]): Buffer {
  return Buffer.from(values);
}
