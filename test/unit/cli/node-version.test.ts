import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NODE_MIN, whyTooOld } from '../../../src/cli/node-version.ts';

test('an older Node is refused with the required version', () => {
  expect(['18.20.4', '20.9.0', '20.18.3'].map(whyTooOld)).toEqual(
    ['18.20.4', '20.9.0', '20.18.3'].map(version => `Node 20.19 or newer is needed; this is ${version}`),
  );
  expect(['20.19.0', '20.20.1', '22.0.0', '24.1.0', process.versions.node].map(whyTooOld)).toEqual(
    Array.from({ length: 5 }, () => undefined),
  );
});

test('package.json requires the same version of Node', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    readonly engines: { readonly node: string };
  };
  expect(engines.node).toBe(`>=${NODE_MIN}`);
});
