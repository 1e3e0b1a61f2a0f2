// sprig's functions on versions. Source: Masterminds/semver version.go, constraints.go.

import type { Json } from '../../../core/base/json.ts';
import { ofTexts } from '../arguments.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { TemplateFault } from '../limits.ts';
import { type Value, Viewed } from '../value.ts';

const VERSION_CHARS_MAX = 256;
const CONSTRAINT_CHARS_MAX = 512;
const SUFFIX = '(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?';
const VERSION = new RegExp(`^v?(\\d{1,15})(?:\\.(\\d{1,15}))?(?:\\.(\\d{1,15}))?${SUFFIX}$`);
const PART = '(?:\\d{1,15}|[xX*])';
const BOUND = `v?(${PART})(?:\\.(${PART}))?(?:\\.(${PART}))?${SUFFIX}`;
const OPERATOR = '(=>|=<|>=|<=|!=|~>|[=><~^])?';
const COMPARISON = new RegExp(`^[\\s,]*${OPERATOR}\\s*${BOUND}(?=[\\s,]|$)`);
const RANGE = new RegExp(`(${BOUND})\\s+-\\s+(${BOUND})`, 'g');

interface Version {
  readonly numbers: readonly [number, number, number];
  readonly pre: string;
  readonly metadata: string;
  readonly original: string;
}

class VersionView extends Viewed {
  readonly typeName = '*semver.Version';
  readonly #version: Version;

  constructor(version: Version) {
    super();
    this.#version = version;
  }

  field(name: string): Value {
    const { numbers, pre, metadata, original } = this.#version;
    const at = ['Major', 'Minor', 'Patch'].indexOf(name);
    if (at >= 0) return BigInt(numbers[at]!);
    const texts: { readonly [member: string]: string } = { Prerelease: pre, Metadata: metadata, Original: original };
    if (name === 'String') return this.json() as string;
    const found = Object.hasOwn(texts, name) ? texts[name] : undefined;
    if (found === undefined) throw new TemplateFault(`can't evaluate field ${name} in type ${this.typeName}`);
    return found;
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
    const { numbers, pre, metadata } = this.#version;
    return `${numbers.join('.')}${pre === '' ? '' : `-${pre}`}${metadata === '' ? '' : `+${metadata}`}`;
  }
}

export const semver: { readonly [name: string]: TemplateFunction } = {
  semver: ofTexts(1, text => new VersionView(versionOf(text!))),
  semverCompare: ofTexts(2, (constraint, text) => {
    const alternatives = constraintOf(constraint!);
    const version = versionOf(text!);
    return alternatives.some(comparisons => {
      const takesPre = comparisons.some(({ bound }) => bound.pre !== '');
      return comparisons.every(({ holds, bound }) => (version.pre === '' || takesPre) && holds(version, bound));
    });
  }),
};

function versionOf(text: string): Version {
  const found = text.length > VERSION_CHARS_MAX ? null : VERSION.exec(text);
  if (found === null) throw new TemplateFault('invalid semantic version');
  const [original, major, minor = '0', patch = '0', pre = '', metadata = ''] = found;
  return { numbers: [Number(major), Number(minor), Number(patch)], pre, metadata, original };
}

/** A version that names only its first `parts`; the others are 0. */
interface Bound extends Version {
  readonly parts: number;
}

interface Comparison {
  readonly holds: (version: Version, bound: Bound) => boolean;
  readonly bound: Bound;
}

/** Alternatives between `||`; comparisons within one, between blanks or commas, hold together. */
function constraintOf(text: string): readonly (readonly Comparison[])[] {
  if (text.length > CONSTRAINT_CHARS_MAX) throw new TemplateFault('constraint string is too long');
  const ranges = text.replace(RANGE, (_, from: string, ...rest: readonly string[]) => `>= ${from}, <= ${rest[5]!} `);
  return ranges.split('||').map(alternative => {
    const comparisons: Comparison[] = [];
    let left = alternative.trim();
    do {
      const found = COMPARISON.exec(left);
      if (found === null) throw new TemplateFault(`improper constraint: "${alternative}"`);
      comparisons.push({ holds: OPERATORS[found[1] ?? '']!, bound: boundOf(found.slice(2)) });
      left = left.slice(found[0].length).trim();
    } while (left !== '');
    return comparisons;
  });
}

function boundOf([major, minor, patch, pre = '', metadata = '']: readonly (string | undefined)[]): Bound {
  const given = [major, minor, patch];
  const open = given.findIndex(part => part === undefined || /^[xX*]$/.test(part));
  const parts = open < 0 ? 3 : open;
  const [first = 0, second = 0, third = 0] = given.slice(0, parts).map(Number);
  return { numbers: [first, second, third], pre, metadata, original: '', parts };
}

type Holds = Comparison['holds'];

const tilde: Holds = (version, bound) => {
  if (order(version, bound) < 0) return false;
  const isAny = bound.numbers.every(part => part === 0) && (bound.parts === 0 || bound.parts === 3);
  return isAny || sameUpTo(version, bound, bound.parts === 1 ? 1 : 2);
};
const caret: Holds = (version, bound) => {
  if (order(version, bound) < 0) return false;
  // The first part that is not 0, or the last one given, must not change.
  const first = bound.numbers.findIndex(part => part > 0);
  const fixed = first < 0 ? 3 : first + 1;
  const given = bound.parts === 1 || bound.parts === 2 ? bound.parts : 3;
  return sameUpTo(version, bound, Math.min(fixed, given));
};
const atMost: Holds = (version, bound) => {
  if (bound.parts === 3) return order(version, bound) <= 0;
  const [[major, minor], [most, mostMinor]] = [version.numbers, bound.numbers];
  return major < most || (major === most && (minor <= mostMinor || bound.parts === 1));
};
const above: Holds = (version, bound) => {
  const [major, minor] = version.numbers;
  if (bound.parts === 3 || major !== bound.numbers[0]) return order(version, bound) > 0;
  if (bound.parts === 1) return false;
  return bound.parts === 2 ? minor > bound.numbers[1] : order(version, bound) > 0;
};
const atLeast: Holds = (version, bound) => order(version, bound) >= 0;
const equal: Holds = (version, bound) => (bound.parts === 3 ? order(version, bound) === 0 : tilde(version, bound));
const unequal: Holds = (version, bound) => {
  if (bound.parts === 3 || bound.parts === 0) return order(version, bound) !== 0;
  return !sameUpTo(version, bound, bound.parts) || (bound.parts === 2 && version.pre !== bound.pre);
};

const OPERATORS: { readonly [operator: string]: Holds } = {
  '': equal,
  '=': equal,
  '!=': unequal,
  '>': above,
  '<': (version, bound) => order(version, bound) < 0,
  '>=': atLeast,
  '=>': atLeast,
  '<=': atMost,
  '=<': atMost,
  '~': tilde,
  '~>': tilde,
  '^': caret,
};

function sameUpTo(version: Version, bound: Version, parts: number): boolean {
  return version.numbers.slice(0, parts).every((part, i) => part === bound.numbers[i]);
}

/** By precedence: metadata does not count. */
function order(a: Version, b: Version): number {
  const at = a.numbers.findIndex((part, i) => part !== b.numbers[i]);
  if (at >= 0) return a.numbers[at]! - b.numbers[at]!;
  if (a.pre === b.pre) return 0;
  if (a.pre === '' || b.pre === '') return a.pre === '' ? 1 : -1;
  const [left, right] = [a.pre.split('.'), b.pre.split('.')];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = partOrder(left[i], right[i]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Numbers come before texts, and a part that is missing before both. */
function partOrder(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  const [first, second] = [/^\d{1,19}$/.test(a), /^\d{1,19}$/.test(b)];
  if (first && second) return Number(BigInt(a) - BigInt(b));
  if (first !== second) return first ? -1 : 1;
  return a < b ? -1 : 1;
}
