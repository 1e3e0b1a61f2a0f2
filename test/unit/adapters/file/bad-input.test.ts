// Malformed files: each gets a message that says where and what, and never takes a good object with it.

import { isLeft } from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { FILE_BYTES_MAX, parseFile } from '../../../../src/adapters/file/parse.ts';
import { YAML_DEPTH_MAX as DEPTH_MAX } from '../../../../src/core/base/yaml-value.ts';
import { definitionOf } from '../../../../src/core/kinds/registry.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

const GOOD = `apiVersion: v1
kind: Namespace
metadata: {name: good}
`;

/** Messages of a file: `line: reason`, those of the parser and those of the core. */
function messages(bytes: Uint8Array): readonly string[] {
  const parsed = parseFile('x.yaml', bytes);
  const found = parsed.malformed.map(({ origin, reason }) => `${origin.line ?? '-'}: ${reason}`);
  for (const { object, origin } of parsed.objects) {
    const decoded = definitionOf(object.apiVersion, object.kind)?.decode(object);
    if (decoded !== undefined && isLeft(decoded)) {
      found.push(...decoded.left.map(p => `${origin.line}: ${p.path}: ${p.message}`));
    }
  }
  return found;
}

const virtualService = (spec: string): string =>
  `apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: x, namespace: default}\nspec:\n${spec}`;

const cases: readonly (readonly [name: string, text: string, expected: RegExp])[] = [
  [
    'unknown kind',
    'apiVersion: networking.istio.io/v1\nkind: VirtualServce\nmetadata: {name: x}',
    /^1: networking\.istio\.io\/v1 VirtualServce is not a kind/,
  ],
  ['wrong type', virtualService('  hosts: 7\n'), /^1: spec\.hosts: .*(list|array)/],
  ['wrong type of a list', virtualService('- hosts: [a]\n'), /^1: spec: .*(object|message)/],
  [
    'duplicate key',
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\nkind: Namespace\n',
    /^4: .*(unique|duplicate)/i,
  ],
  [
    'missing name',
    'apiVersion: v1\nkind: Namespace\nmetadata: {labels: {a: b}}\n',
    /^1: Namespace: metadata\.name is missing/,
  ],
  ['missing metadata', 'apiVersion: v1\nkind: Namespace\n', /^1: Namespace: metadata is missing/],
  ['missing kind', 'apiVersion: v1\nmetadata: {name: x}\n', /^1: kind is missing/],
  ['a scalar', 'just words\n', /^1: expected a Kubernetes object, found a string/],
  ['a list', '- a\n- b\n', /^1: expected a Kubernetes object, found a list/],
  ['broken syntax', 'apiVersion: v1\nkind: [Namespace\nmetadata: {name: x}\n', /^[0-9]+: /],
  ['tabs for blanks', 'apiVersion: v1\nkind: Namespace\nmetadata:\n\tname: x\n', /^4: .*tab/i],
  [
    'port out of range',
    'apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {name: x, namespace: a}\nspec:\n  selector: {a: b}\n  servers: [{port: {number: 70000, name: h, protocol: HTTP}, hosts: ["*"]}]\n',
    /^1: spec\.servers\[0\]\.port.*70000/,
  ],
  [
    'invalid host',
    virtualService('  hosts: ["bad_host!"]\n  http: [{route: [{destination: {host: a}}]}]\n'),
    /^1: spec\.hosts\[0\].*bad_host!/,
  ],
  ['unknown field', virtualService('  hosts: [a]\n  htpp: []\n'), /^1: spec\.htpp: unknown field/],
  ['the second document', `${GOOD}---\napiVersion: v1\nkind: Namespace\n`, /^5: Namespace: metadata is missing/],
];

describe('the file adapter on bad input', () => {
  it.each(cases)('reports %s', (_name, text, expected) => {
    expect(messages(encode(text))).toEqual([expect.stringMatching(expected)]);
  });

  it('refuses a document of 10 MB unread', () => {
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata: {x: "${'y'.repeat(10 * 1024 * 1024)}"}\n`;
    expect(messages(encode(text))).toEqual([`-: is 10.0 MiB large; the limit is ${FILE_BYTES_MAX / 1024 / 1024} MiB`]);
  });

  it('does not expand an alias bomb', () => {
    const levels = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghi'.split('').map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`),
    ];
    const started = process.cpuUsage();
    expect(messages(encode(`${levels.join('\n')}\n`))).toEqual([
      expect.stringMatching(/^7: anchors are expanded to more than/),
    ]);
    expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
  });

  it('refuses deep nesting by the first limit reached', () => {
    const nested = (depth: number): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: ${'['.repeat(depth)}${']'.repeat(depth)}\n`;
    expect(messages(encode(nested(DEPTH_MAX + 5)))).toEqual([`4: is nested more than ${DEPTH_MAX} levels deep`]);
    expect(messages(encode(nested(50_000)))).toEqual([expect.stringMatching(/nested more than/)]);
  });

  it('names binary files and other encodings', () => {
    expect(messages(new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]))).toEqual([expect.stringMatching(/binary file/)]);
    expect(messages(new Uint8Array([0x61, 0xff, 0xfe, 0x62]))).toEqual([expect.stringMatching(/not UTF-8/)]);
  });

  it('takes an empty file, comments and separators for no objects', () => {
    for (const text of ['', '\n', '# only a comment\n', '---\n---\n', '\ufeff'])
      expect(parseFile('x', encode(text))).toEqual({ objects: [], malformed: [], ignored: [], complete: true });
  });

  it('accepts CRLF and a byte order mark', () => {
    const parsed = parseFile(
      'x',
      encode(`\ufeff${`${GOOD}---\n${GOOD.replace('good', 'better')}`.replaceAll('\n', '\r\n')}`),
    );
    expect(parsed.malformed).toEqual([]);
    expect(parsed.objects.map(o => [o.ref.name, o.origin.line])).toEqual([
      ['good', 1],
      ['better', 5],
    ]);
  });

  it('keeps the valid documents beside an invalid one', () => {
    const parsed = parseFile('x', encode(`${GOOD}---\nkind: [\n---\n${GOOD.replace('good', 'better')}`));
    expect(parsed.objects.map(o => o.ref.name)).toContain('good');
    expect(parsed.malformed.length).toBeGreaterThan(0);
  });

  it('ignores objects of other projects without a problem', () => {
    const foreign = 'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: x}\n';
    const parsed = parseFile('x', encode(`${foreign}---\n${GOOD}`));
    expect(parsed).toMatchObject({ objects: [{ ref: { name: 'good' } }], malformed: [], complete: true });
    expect(parsed.ignored).toEqual([
      { origin: expect.objectContaining({ line: 1 }), reason: expect.stringMatching(/cert-manager.io.v1 Certificate/) },
    ]);
    const known = 'apiVersion: security.istio.io/v9\nkind: PeerAuthentication\nmetadata: {name: x}\n';
    expect(parseFile('x', encode(known))).toMatchObject({ malformed: [{}], ignored: [], complete: false });
  });

  it('reads YAML as Kubernetes does', () => {
    const text =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: yes, b: 12:30:45, c: 2026-01-01, d: 0o7, e: "on"}\n';
    expect(parseFile('x', encode(text)).objects[0]?.object.data).toMatchObject({
      a: true,
      b: '12:30:45',
      c: '2026-01-01',
      e: 'on',
    });
  });

  it('expands a List, and reports a repeated object but keeps its first version', () => {
    const list =
      'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n- {apiVersion: v1, kind: Namespace, metadata: {name: b}}\n';
    expect(parseFile('x', encode(list)).objects.map(o => o.ref.name)).toEqual(['a', 'b']);
    // As an API server gives it: the items do not repeat what they are.
    const served = '{"apiVersion":"v1","kind":"NamespaceList","items":[{"metadata":{"name":"c"}},7]}';
    const parsed = parseFile('x', encode(served));
    expect(parsed.objects).toMatchObject([{ ref: { kind: 'Namespace', name: 'c' }, object: { apiVersion: 'v1' } }]);
    expect(parsed.malformed.map(m => m.reason)).toEqual(['expected a Kubernetes object, found a number']);
    const twice = parseFile('x', encode(`${GOOD}---\n${GOOD}`));
    expect(twice.objects).toHaveLength(1);
    expect(twice.malformed.map(m => m.reason)).toEqual([
      expect.stringMatching(/Namespace \/good stands already at line 1/),
    ]);
  });
});
