// sprig.json: templates and what Go's text/template gives for them with the functions of sprig 3.3.0 and the modules of
// istiod 1.30.3; null: an error.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseTemplate, runTemplate } from '../../../../src/admission/template/template.ts';

const rows = JSON.parse(readFileSync(join(import.meta.dirname, 'sprig.json'), 'utf8')) as [string, string | null][];

function rendered(text: string): string | undefined {
  const parsed = parseTemplate(text);
  const run = parsed._tag === 'Left' ? parsed : runTemplate(parsed.right, undefined);
  return run._tag === 'Left' ? undefined : run.right;
}

describe('The template', () => {
  it.each(rows)('%s gives what sprig does', (text, expected) => {
    expect(rendered(text) ?? null).toBe(expected);
  });

  it.each([
    ['untilStep 0 1000000000 1', 'characters'],
    ['seq 1000000000', 'characters'],
    ['repeat 1000000 "a" | regexMatch "(a?){50}b"', 'characters'],
    ['regexReplaceAll "a" (repeat 500000 "a") "$0$0$0$0$0$0$0$0$0$0"', 'characters'],
    ['mustRegexMatch (repeat 1001 "a") "b"', 'more than 1000 characters'],
    ['now', 'function "now" not defined'],
    ['uuidv4', 'function "uuidv4" not defined'],
  ])('%s is refused with a reason', (expression, reason) => {
    const parsed = parseTemplate(`{{ ${expression} }}`);
    const run = parsed._tag === 'Left' ? parsed : runTemplate(parsed.right, undefined);
    expect(run._tag === 'Left' ? run.left : '').toContain(reason);
  });
});
