// The limits of one execution of a template. A template is data of a user with rights in the cluster: it may loop, grow
// a text by doubling it, or call itself.
//
// Invariant: cost is counted, not timed, so that equal inputs give equal results on every machine. Every action, call
// and element of a loop is a step; every text that a function is given or makes counts by its length.

export interface TemplateLimits {
  /** Actions, calls and elements of loops. */
  readonly steps: number;
  /** Characters of the output. */
  readonly outputChars: number;
  /** Characters of all texts that functions are given or make, and elements of all lists, over the whole execution. */
  readonly madeChars: number;
  /** Templates within templates. */
  readonly depth: number;
}

/** Istio's template for sidecars takes about 500 steps, makes 4,000 characters and writes 6,000. */
export const TEMPLATE_LIMITS: TemplateLimits = {
  steps: 50_000,
  outputChars: 1_000_000,
  madeChars: 4_000_000,
  depth: 20,
};

/** Characters of the text of a template. */
export const TEMPLATE_CHARS_MAX = 500_000;
/**
 * Characters of all templates of one configuration, which are parsed at once: some 100 ms. A template counts as
 * TEMPLATE_CHARS_MIN at least.
 */
export const TEMPLATES_CHARS_MAX = 200_000;
export const TEMPLATE_CHARS_MIN = 100;
/** Parentheses and blocks within each other, in the text of a template. */
export const TEMPLATE_NESTING_MAX = 40;

/** Why a template cannot be parsed or executed. The message names the template and the line. */
export class TemplateFault extends Error {}

/** What is left of the limits. */
export class Budget {
  readonly limits: TemplateLimits;
  #steps = 0;
  #made = 0;
  #output = 0;
  depth = 0;

  constructor(limits: TemplateLimits) {
    this.limits = limits;
  }

  step(): void {
    if (++this.#steps > this.limits.steps) throw new TemplateFault(`takes more than ${this.limits.steps} steps`);
  }

  /** Call before making a text of `count` characters or a list of `count` elements. */
  make(count: number): void {
    this.#made += count;
    if (!(this.#made <= this.limits.madeChars)) {
      throw new TemplateFault(`makes more than ${this.limits.madeChars} characters`);
    }
  }

  write(count: number): void {
    this.#output += count;
    if (this.#output > this.limits.outputChars) {
      throw new TemplateFault(`writes more than ${this.limits.outputChars} characters`);
    }
  }

  enter(): void {
    if (++this.depth > this.limits.depth)
      throw new TemplateFault(`calls more than ${this.limits.depth} templates deep`);
  }

  leave(): void {
    this.depth--;
  }
}
