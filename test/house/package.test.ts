// What is installed with the package stays small: a pipeline installs it at every run.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const PACKAGES_MAX = 80;
const root = join(import.meta.dirname, '../..');

interface Locked {
  readonly dev?: boolean;
  readonly peer?: boolean;
  readonly devOptional?: boolean;
}

/** Paths in node_modules that `npm install --omit=dev` fills; `lock`: the text of package-lock.json. */
function installed(lock: string): readonly string[] {
  const { packages } = JSON.parse(lock) as { readonly packages: Readonly<Record<string, Locked>> };
  const isLeftOut = ({ dev, peer, devOptional }: Locked): boolean => [dev, peer, devOptional].includes(true);
  return Object.entries(packages).flatMap(([path, one]) => (path === '' || isLeftOut(one) ? [] : [path]));
}

describe('the package', () => {
  const paths = installed(readFileSync(join(root, 'package-lock.json'), 'utf8'));

  it(`brings at most ${PACKAGES_MAX} others`, () => {
    expect(paths).toContain('node_modules/fp-ts');
    expect(paths).not.toContain('node_modules/vitest');
    expect(paths.length).toBeLessThanOrEqual(PACKAGES_MAX);
  });

  it('brings one protobuf runtime', () => {
    expect(paths.filter(path => path.endsWith('node_modules/protobufjs'))).toEqual(['node_modules/protobufjs']);
  });
});
