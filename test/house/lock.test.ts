// The lock file names every package that anything in it may ask for, on every platform: `npm ci` refuses a lock that
// leaves one out, and `npm install` against a registry or an installation that lacks some platforms' packages writes
// such a lock without a word.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface Package {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
type Packages = Readonly<Record<string, Package>>;

/** As Node resolves: beside the package that asks, else beside the one around it. */
function isLocked(packages: Packages, asking: string, name: string): boolean {
  for (let place = asking; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
    if (packages[place === '' ? `node_modules/${name}` : `${place}/node_modules/${name}`] !== undefined) return true;
    if (place === '') return false;
  }
}

const missingIn = (packages: Packages): readonly string[] =>
  Object.entries(packages).flatMap(([place, { dependencies, devDependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter(name => !isLocked(packages, place, name))
      .map(name => `${place} → ${name}`),
  );

it('package-lock.json is complete', () => {
  const file = join(import.meta.dirname, '../../package-lock.json');
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { readonly packages: Packages };
  expect(missingIn(packages)).toEqual([]);
  // A lock without one of them is caught.
  const { 'node_modules/@biomejs/cli-darwin-arm64': _, ...others } = packages;
  expect(missingIn(others)).toEqual(['node_modules/@biomejs/biome → @biomejs/cli-darwin-arm64']);
});
