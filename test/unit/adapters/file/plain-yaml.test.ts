// The short way of reading YAML against the full parser: whatever it reads, it reads alike, and it reads what manifests
// are made of.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { parseAnyYaml } from '../../../../src/adapters/file/parse.ts';
import { plainDocuments } from '../../../../src/adapters/file/plain-yaml.ts';
import { parameters } from '../../../property/seed.ts';

const DOCUMENTS_MAX = 100;

/** True if the short way had an answer. */
function agrees(text: string): boolean {
  const plain = plainDocuments(text, DOCUMENTS_MAX);
  if (plain === undefined) return false;
  const documents = plain.map(({ value, line }) => ({ value, origin: { file: 'f', line, column: 1 }, errors: [] }));
  expect(parseAnyYaml('f', text), text).toEqual({ documents });
  return true;
}

const MANIFEST = `# A comment.
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata:
  name: outside
  labels:
    app: "1"
    security.istio.io/tlsMode: istio
  creationTimestamp: 2026-01-31T12:00:00Z
spec:
  hosts:
  - api.example.com
  - '*.example.org'
  addresses: []
  exportTo: [".", other]
  ports:
    - number: 443
      name: https

      protocol: HTTPS
    -
      number: 80
      name: http
      protocol: HTTP
  endpoints:
  - address: 10.0.0.1
    labels: {}
  location: MESH_EXTERNAL
  resolution: STATIC
---
---
apiVersion: v1
kind: Namespace
metadata:
  name: text with spaces
  timeout: 10s
  empty:
  ready: true
`;

/** Texts that look plain and are something else, or are wrong. */
const ODD: readonly string[] = [
  'a: yes\nb: 1\n',
  'a: 010\n',
  'a: 1_000\n',
  'a: 1.5\n',
  'a: 1e3\n',
  'a: 1:30\n',
  'a: 0x1f\n',
  'a: ~\n',
  'a: null\n',
  'a: NULL\nn: b\n',
  'y: 1\n',
  'a: b\n  c\n',
  'a: b # c\n',
  'a: &x b\nc: *x\n',
  'a: |\n  text\n',
  'a: b: c\n',
  'a: "b\\nc"\n',
  "a: 'it''s'\n",
  'a:\n  b: 1\n c: 2\n',
  'a:\n- b\n-c\n',
  'a:\n  - b\n - c\n',
  'a: 1\na: 2\n',
  'a: [b, c]\n',
  'a: ["*"]\n',
  'a: ["b, c", d]\n',
  'a: [b, ]\n',
  'a: [b:c]\n',
  'a: [[b]]\n',
  'a: [.]\n',
  'a: [b] c\n',
  'a: [on, 1, 2s]\n',
  'a: [b\n  ]\n',
  'a: {b: c}\n',
  '- a\n- b\n',
  '  a: b\n',
  'a: b\n...\n',
  '%YAML 1.2\n---\na: b\n',
  '--- a\n',
  'a:\tb\n',
  'a: b\r\n',
  'a: 12345678901234567890\n',
  'a: -1\n',
  'a: .\n',
  'a: -\n',
  'a: - b\n',
  'a:\n- - b\n',
  'a:b\n',
  'a : b\n',
  '? a\n: b\n',
  'a: @b\n',
  'a: !!str 1\n',
  'a: b:\n',
  'a: c :d\n',
  'a: http://x:80/y\n',
  'a: 2026-01-31\n',
  'a: 0777s\n',
  'a: 1s\n',
  'a: Infinity\n',
  'a: .inf\n',
  'a: <<\n',
  '<<: a\n',
  '__proto__: a\n',
  'a:\n\n\n  b: c\n',
  '---\n---\n',
  '# nothing\n',
  '',
  'a:\n# c\n  b: 1\n',
  '\ufeffa: b\n',
  'a: b \n',
  'a:  b\n',
  '-  a: b\n   c: d\n',
  'k:\n-  a: b\n   c: d\n-  e\n',
  'k:\n  -\n    - a\n',
  'k:\n-\nb: c\n',
  'k:\n-\n- c\n',
  'k:\n  - a\nj:\n  - b\n',
  'k: "#"\n',
  "k: '#'\n",
  'k: a#b\n',
  'k: ""\n',
  'k: a  b\n',
];

describe('the fast YAML parser', () => {
  it('reads a manifest', () => {
    expect(agrees(MANIFEST)).toBe(true);
  });

  it.each(ODD)('agrees with the full parser on %j, or declines it', text => {
    agrees(text);
  });

  it('agrees with the full parser on arbitrary objects, or declines them', () => {
    const plain = fc.constantFrom('a', 'b.c', 'x-y', 'text', 'some words', '10.0.0.1', '5s', 'http://x/y');
    const odd = fc.constantFrom('on', 'true', 'No', '1', '01', '~', 'a: b', '*', '', 'é', '"', ', ');
    const word = fc.oneof({ weight: 12, arbitrary: plain }, { weight: 1, arbitrary: odd });
    const tree = fc.letrec<{ value: unknown; object: unknown }>(tie => ({
      value: fc.oneof(
        { maxDepth: 4 },
        { weight: 6, arbitrary: word },
        { weight: 3, arbitrary: fc.nat() },
        { weight: 1, arbitrary: fc.constantFrom(true, null, 1.5, -1) },
        { weight: 4, arbitrary: tie('object') },
        { weight: 3, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
      ),
      object: fc.dictionary(word, tie('value'), { maxKeys: 4 }),
    }));
    const style = fc.record({ indentSeq: fc.boolean(), indent: fc.constantFrom(2, 4) });
    let read = 0;
    fc.assert(
      fc.property(tree.object, style, (object, options) => {
        if (agrees(stringify(object, { version: '1.1', ...options }))) read++;
      }),
      parameters(1_000),
    );
    // About an eighth of such objects are plain: enough of them that the comparison above says something.
    expect(read).toBeGreaterThan(40);
  });

  it('agrees with the full parser on a manifest with one change, or declines it', () => {
    const piece = fc.constantFrom(
      ' ',
      '  ',
      '\n',
      '-',
      '- ',
      ':',
      ': ',
      '#',
      '"',
      "'",
      '0',
      'a',
      '{}',
      '[',
      '---\n',
      '&',
      '*',
      '|',
      ',',
      '!',
    );
    fc.assert(
      fc.property(fc.nat(MANIFEST.length), fc.nat(6), piece, (at, gone, put) => {
        agrees(`${MANIFEST.slice(0, at)}${put}${MANIFEST.slice(at + gone)}`);
      }),
      parameters(2_000),
    );
  });

  it('declines more documents than allowed, so that the full parser reports them', () => {
    expect(plainDocuments('a: b\n---\n'.repeat(3), 2)).toBeUndefined();
    expect(plainDocuments('a: b\n---\n'.repeat(2), 2)).toHaveLength(2);
  });
});
