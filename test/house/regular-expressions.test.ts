// No regular expression takes time that grows faster than its text: most are given what a user wrote, and V8 has no
// limit for one. A header value of thirty letters and an é once took hours, and a key set of 1.4 million `=` an hour.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse } from 'scslre';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { linearPattern } from '../../src/core/schema/constraints.ts';
import { constraintsOfEnvoy } from '../../src/core/schema/envoy-constraints.gen.ts';
import { gatewayApiConstraints } from '../../src/core/schema/gateway-api-constraints.gen.ts';
import { istioConstraints } from '../../src/core/schema/istio-constraints.gen.ts';

const root = join(import.meta.dirname, '../..');
/** Code points up to which a pattern of the second degree costs some milliseconds. */
const BOUNDED_MAX = 512;

const files = ['src', 'ui'].flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file))
    .map(file => join(folder, file)),
);

/** Each literal, with its place. */
function literalsOf(file: string): readonly (readonly [string, string])[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: (readonly [string, string])[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push([`${file}:${line + 1}`, node.text]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** What grows faster than the text: `Move` at each place where a search begins, `Trade`, `Self` within one attempt. */
function growthOf(source: string, flags: string): readonly string[] {
  const { reports } = analyse({ source, flags: flags.replace('v', 'u') }, { maxReports: 3 });
  return reports.map(({ type, exponential }) => `${type}${exponential ? ', exponential' : ''}`);
}

interface Pattern {
  readonly pattern: string;
  readonly flags: string;
  readonly maxLength: number;
}

/** Those of constraints, and of rules that are trees: `['matches', of, pattern, flags]`. As JSON. */
function patternsIn(all: unknown, seen = new Set<unknown>()): readonly string[] {
  if (typeof all !== 'object' || all === null || seen.has(all)) return [];
  seen.add(all);
  const members = Object.values(all as Readonly<Record<string, unknown>>);
  const below = members.flatMap(member => patternsIn(member, seen));
  const found = (pattern: string, flags: string, maxLength: number): string =>
    JSON.stringify({ pattern, flags, maxLength } satisfies Pattern);
  if (Array.isArray(all)) {
    const [name, , pattern, flags] = all as readonly unknown[];
    return name === 'matches' && typeof pattern === 'string' ? [...below, found(pattern, String(flags), 1e9)] : below;
  }
  const { pattern, maxLength = 1e9 } = all as Partial<Pattern>;
  return typeof pattern === 'string' ? [...below, found(pattern, 'u', maxLength)] : below;
}

describe('regular expressions', () => {
  it('of the program are linear', () => {
    const found = files
      .filter(file => !file.endsWith('.gen.ts'))
      .flatMap(literalsOf)
      .flatMap(([place, literal]) => {
        const end = literal.lastIndexOf('/');
        const growth = growthOf(literal.slice(1, end), literal.slice(end + 1));
        return growth.length === 0 ? [] : [`${place} ${literal}: ${growth.join('; ')}`];
      });
    expect(found).toEqual([]);
    expect(growthOf('=+$', '')).toEqual(['Move']);
  });

  it('of the constraints of kinds are linear, or bounded by the length of the text', () => {
    const patterns = new Set(
      [gatewayApiConstraints, istioConstraints, constraintsOfEnvoy].flatMap(all => patternsIn(all)),
    );
    const found = [...patterns].flatMap(text => {
      const { pattern, flags, maxLength } = JSON.parse(text) as Pattern;
      const growth = growthOf(linearPattern(pattern), flags);
      const isBounded = maxLength <= BOUNDED_MAX && !growth.some(one => one.includes('exponential'));
      return growth.length === 0 || isBounded ? [] : [`${pattern}: ${growth.join('; ')}`];
    });
    expect(patterns.size).toBeGreaterThan(20);
    expect(found).toEqual([]);
  });
});
