// What a test file gets for `vitest` in a trial: its tests are gathered, with the hooks around them, and run as often as
// there are mutants for them. Of Vitest's names those that the held test files use.

import { format } from 'node:util';

export { assert, expect, vi } from 'vitest';

type Run = () => unknown;
type Hook = 'beforeAll' | 'beforeEach' | 'afterEach' | 'afterAll';

interface Suite {
  readonly title: string;
  readonly parent: Suite | undefined;
  readonly hooks: Readonly<Record<Hook, Run[]>>;
}

export interface Collected {
  readonly title: string;
  /** With the hooks of its suites; throws if it fails. */
  run(): Promise<void>;
}

export const collected: Collected[] = [];

/** Of the test under way; the last one registered runs first, as in Vitest. */
let finishers: Run[] = [];
export const onTestFinished = (run: Run): void => void finishers.unshift(run);

const suiteOf = (title: string, parent?: Suite): Suite => ({
  title,
  parent,
  hooks: { beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] },
});
let current = suiteOf('');

function hooksOf(suite: Suite | undefined, hook: Hook): readonly Run[] {
  return suite === undefined ? [] : [...hooksOf(suite.parent, hook), ...suite.hooks[hook]];
}

function addTest(title: string, test: Run): void {
  const suite = current;
  collected.push({
    title: `${suite.title} ${title}`.trim(),
    run: async () => {
      finishers = [];
      try {
        for (const hook of ['beforeAll', 'beforeEach'] as const) for (const run of hooksOf(suite, hook)) await run();
        await test();
      } finally {
        for (const run of finishers) await run();
        for (const hook of ['afterEach', 'afterAll'] as const) for (const run of hooksOf(suite, hook)) await run();
      }
    },
  });
}

function addSuite(title: string, body: Run): void {
  const parent = current;
  current = suiteOf(`${parent.title} ${title}`.trim(), parent);
  try {
    body();
  } finally {
    current = parent;
  }
}

type Each = (rows: readonly unknown[]) => (title: string, run: (...row: readonly never[]) => unknown) => void;
type Add = (title: string, run: Run) => void;

function withForms(
  add: Add,
): Add & { readonly each: Each; readonly runIf: (is: boolean) => Add; readonly skipIf: (is: boolean) => Add } {
  const each: Each = rows => (title, run) => {
    for (const row of rows) {
      const values: readonly never[] = (Array.isArray(row) ? row : [row]) as never[];
      add(format(title, ...values), () => run(...values));
    }
  };
  const when = (is: boolean): Add => (is ? add : () => undefined);
  return Object.assign(add, { each, runIf: when, skipIf: (is: boolean): Add => when(!is) });
}

export const describe = withForms((title, run) => addSuite(title, run));
export const it = withForms((title, run) => addTest(title, run));
export const test = it;

const hook =
  (name: Hook) =>
  (run: Run): void =>
    void current.hooks[name].push(run);
export const beforeAll = hook('beforeAll');
export const beforeEach = hook('beforeEach');
export const afterEach = hook('afterEach');
export const afterAll = hook('afterAll');
