// Lines and columns inside objects: where they are, and what it costs to find many of them.

import { describe, expect, it } from 'vitest';
import { Locator, locateInText } from '../../../../src/adapters/file/locate.ts';
import { parseFile } from '../../../../src/adapters/file/parse.ts';

const service = (i: number): string => `apiVersion: v1
kind: Service
metadata: {name: s${i}, namespace: shop, labels: {app: "s${i}"}}
spec:
  ports:
  - name: http
    port: 99999${i}
`;
const text = Array.from({ length: 400 }, (_, i) => service(i)).join('---\n');

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe('the position of a path', () => {
  it('is that of its nearest existing node', () => {
    const locator = new Locator(`# head\n--- # the first\na: {b: [1, {c: 2}]}\n---\n${text}`);
    expect(locator.at({ line: 3, path: 'a.b[1].c' })).toEqual({ line: 3, column: 13 });
    expect(locator.at({ line: 3, path: 'a.b[7].c' })).toEqual({ line: 3, column: 5 });
    expect(locator.at({ line: 3, path: 'x.y' })).toEqual({ line: 3, column: 1 });
    expect(locator.at({ line: 5 + 8 * 399, path: 'spec.ports[0].port' })).toEqual({ line: 11 + 8 * 399, column: 5 });
  });

  it('is found in a document by the line of its separator', () => {
    const origin = { file: 'a.yaml', line: 2, column: 5 };
    expect(locateInText(origin, 'a: 1\n--- {b: 1,\n  c: {d: 1}}\n', 'c.d')).toMatchObject({ line: 3, column: 7 });
    expect(locateInText(origin, 'a: 1\n\nb: 1\n', 'b')).toBeUndefined();
    expect(locateInText({ ...origin, line: 99 }, 'a: 1\n', 'a')).toBeUndefined();
  });

  it('costs one additional parse for 400 problems in 400 objects', () => {
    const bytes = new TextEncoder().encode(text);
    const origins = parseFile('a.yaml', bytes).objects.map(({ origin }) => origin.line ?? 0);
    const reading = Math.max(...[1, 2, 3].map(() => cpuMs(() => parseFile('a.yaml', bytes))));
    const locator = new Locator(text);
    const finding = cpuMs(() => {
      for (const line of origins) expect(locator.at({ line, path: 'spec.ports[0].port' })?.line).toBe(line + 6);
    });
    expect(finding).toBeLessThan(5 * reading + 100);
  });
});
