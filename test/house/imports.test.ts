// The import rules hold for src/ and ui/, and each of them bites: a tree of deliberately wrong imports is refused by
// name.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const config = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs')) as {
  readonly forbidden: readonly unknown[];
  readonly options: ICruiseOptions;
};

async function violations(baseDir: string, folders: readonly string[]): Promise<readonly string[]> {
  const options = { ...config.options, baseDir, ruleSet: { forbidden: config.forbidden }, validate: true };
  const { output } = await cruise([...folders], options as ICruiseOptions);
  const { violations: found } = (output as ICruiseResult).summary;
  return found.filter(v => v.rule.severity === 'error').map(v => `${v.rule.name}: ${v.from} → ${v.to}`);
}

describe('import rules', () => {
  it('hold for all of src and ui', async () => {
    expect(await violations(root, ['src', 'ui'])).toEqual([]);
  });

  it('canary: every deliberately wrong import of the canary tree is found', async () => {
    const names = (await violations(join(import.meta.dirname, 'canary'), ['src', 'ui'])).map(
      text => text.split(' → ')[0],
    );
    expect(names).toContain('core-is-pure: src/core/reads-files.ts');
    expect(names).toContain('adapters-are-thin: src/adapters/file/knows-journal.ts');
    expect(names).toContain('generate-is-pure: src/xds/generate/knows-journal.ts');
    expect(names).toContain('generate-reads-nothing: src/xds/generate/reads-state.ts');
    expect(names).toContain('assemble-joins: src/xds/assemble/knows-engine.ts');
    expect(names).toContain('nobody-imports-the-entry: src/runtime/imports-entry.ts');
    expect(names).toContain('history-asks: src/history/knows-runtime.ts');
    expect(names).toContain('core-floors-registry: src/core/registry/knows-select.ts');
    expect(names).toContain('core-floors-model: src/core/model/names-kind.ts');
    expect(names).toContain('no-cycles: src/core/kinds/named.ts');
    expect(names).toContain('offline-serves-nobody: src/offline/knows-runtime.ts');
    expect(names).toContain('admin-shows: src/admin/knows-runtime.ts');
    expect(names).toContain('grpc-is-glue: src/xds/serve/knows-grpc.ts');
    expect(names).toContain('ports-know-node: src/net/knows-admin.ts');
    expect(names).toContain('replicas-know-the-journal: src/replicas/knows-runtime.ts');
    expect(names).toContain('only-one-folder-knows-nats: src/runtime/knows-nats.ts');
    expect(names).toContain('oracle-knows-nobody: src/oracle/knows-generators.ts');
    expect(names).toContain('ui-asks-over-http: ui/knows-history.ts');
    expect(names).toContain('answers-are-data: src/history/answers.ts');
  });
});
