// The colours of the page, read out of its style sheet: every text on every surface that it stands on has the contrast
// of WCAG 2.1 AA, in the light and in the dark. What is drawn by other means is measured in a browser (test/e2e).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const CSS = readFileSync(join(import.meta.dirname, '../../../ui/style/base.css'), 'utf8');
/** WCAG 2.1, 1.4.3 (text) and 1.4.11 (what is needed to see a control). */
const TEXT_RATIO_MIN = 4.5;
const SHAPE_RATIO_MIN = 3;
const SURFACES = ['page', 'panel', 'raised', 'accent-soft'] as const;
const TEXTS = ['text', 'muted', 'accent', 'danger', 'warn', 'good'] as const;
/** Texts on the ground of their own tone. */
const TONES: readonly (readonly [string, string])[] = [
  ['text', 'danger-soft'],
  ['text', 'warn-soft'],
  ['text', 'good-soft'],
  ['on-accent', 'accent'],
];
const SHAPES: readonly (readonly [string, string])[] = [
  ['accent', 'panel'],
  ['danger', 'panel'],
  ['warn', 'panel'],
  ...[1, 2, 3, 4, 5, 6].map(part => [`part-${part}`, 'panel'] as const),
];

type Palette = ReadonlyMap<string, string>;

function paletteOf(selector: string): Palette {
  const start = CSS.indexOf(`${selector} {`);
  const block = CSS.slice(start, CSS.indexOf('}', start));
  return new Map(
    [...block.matchAll(/--([a-z0-9-]+): (#[0-9a-f]{6});/g)].map(([, name = '', colour = '']) => [name, colour]),
  );
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map(at => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map(value => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

describe.each([
  ['light', ':root'],
  ['dark', ':root[data-theme="dark"]'],
])('the %s colours', (_, selector) => {
  const palette = paletteOf(selector);
  const ratio = (one: string, other: string): number => contrast(palette.get(one) ?? '', palette.get(other) ?? '');
  const pairs = [...SURFACES.flatMap(surface => TEXTS.map(text => [text, surface] as const)), ...TONES];

  it.each(pairs)('let %s be read on %s', (text, surface) => {
    expect(ratio(text, surface)).toBeGreaterThanOrEqual(TEXT_RATIO_MIN);
  });

  it.each(SHAPES)('let marks in %s be seen on %s', (mark, surface) => {
    expect(ratio(mark, surface)).toBeGreaterThanOrEqual(SHAPE_RATIO_MIN);
  });
});

describe('contrast', () => {
  it('is that of the standard: black on white 21, equal colours 1 (canary)', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
    expect(contrast('#777777', '#777777')).toBe(1);
    expect(contrast('#777777', '#ffffff')).toBeLessThan(TEXT_RATIO_MIN);
  });
});
