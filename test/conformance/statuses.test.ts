// Statuses of the Gateway API: inputs as files, and beside each the statuses that are written for it, which were read
// against the rules of istiod. Every reason that Periplus can give stands in one of them.
//
// A file may begin with `# env: NAME=value` for istiod's flags. PERIPLUS_UPDATE_GOLDENS is not needed: vitest's -u
// renews the expected files, and the difference is then to be read.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { isObject, type JsonObject } from '../../src/core/base/json.ts';
import { defaultSettings, settingsToJson } from '../../src/core/mesh/settings.ts';
import { untrackedReader } from '../../src/core/query/untracked.ts';
import { planOf } from '../../src/core/wishes/plan.ts';
import { wishTable } from '../../src/core/wishes/table.ts';
import type { Wish } from '../../src/core/wishes/wish.ts';
import { foldFacts, objectFacts } from '../../src/offline/generate.ts';

const folder = join(import.meta.dirname, 'statuses');
const cases = readdirSync(folder).flatMap(file => /^(.*[^.])\.yaml$/.exec(file)?.[1] ?? []);
const inputs = cases.filter(name => !name.endsWith('.statuses'));

function statusesOf(name: string): readonly Wish[] {
  const text = readFileSync(join(folder, `${name}.yaml`), 'utf8');
  const [, flag = '', value = ''] = /^# env: (\S+)=(\S+)/.exec(text) ?? [];
  const env = flag === '' ? {} : { [flag]: value };
  const engine = { source: 'runtime', kind: 'Engine', settings: settingsToJson({ ...defaultSettings, env }) } as const;
  const { state, effects } = foldFacts([engine, ...objectFacts('file/Kubernetes', name, Buffer.from(text))]);
  const refused = effects.filter(effect => effect.kind === 'Verdict' && !effect.accepted);
  expect(refused, 'a case must not pass because its input was dropped').toEqual([]);
  expect(state.malformed.size).toBe(0);
  return untrackedReader(state)
    .get(wishTable, '')
    .wishes.filter(({ subresource }) => subresource === 'status');
}

/** As an API server has it after the write. */
function written(wish: Wish, live: JsonObject): JsonObject {
  const plan = planOf(wish, live, 'v1', wish.kind, '2026-01-01T00:00:00Z');
  expect(plan.kind).toBe('merge');
  return { ...live, ...(plan.kind === 'merge' ? { status: plan.patch.status ?? {} } : {}) };
}

function shown(wish: Wish): string {
  const status = wish.fields?.status ?? {};
  return stringify({ kind: wish.kind, object: [wish.namespace, wish.name].filter(Boolean).join('/'), status });
}

describe('the statuses of the Gateway API for', () => {
  it.each(inputs)('%s are those in the file beside it', async name => {
    const texts = statusesOf(name).map(shown);
    await expect(texts.join('---\n')).toMatchFileSnapshot(`statuses/${name}.statuses.yaml`);
  });

  it.each(inputs)('%s are at rest once they are written', name => {
    for (const wish of statusesOf(name)) {
      const generation = wish.precondition?.generation ?? 0;
      const live = written(wish, { metadata: { generation, resourceVersion: '1' } });
      expect(planOf(wish, live, 'v1', wish.kind, '2027-01-01T00:00:00Z'), wish.name).toEqual({
        kind: 'none',
        why: 'fulfilled',
      });
    }
  });
});

/** `type status reason` of every condition. */
function reasonsIn(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) reasonsIn(one, found);
  if (!isObject(value)) return;
  if (typeof value.reason === 'string') found.add(`${String(value.type)} ${String(value.status)} ${value.reason}`);
  for (const member of Object.values(value)) reasonsIn(member, found);
}

it('the cases have every reason that a condition can have', () => {
  const found = new Set<string>();
  for (const name of inputs) for (const { fields } of statusesOf(name)) reasonsIn(fields, found);
  expect([...found].sort()).toEqual([
    'Accepted False Conflicted',
    'Accepted False DeprecatedField',
    'Accepted False HTTPRouteNotAccepted',
    'Accepted False IgnoredByIstio',
    'Accepted False NoMatchingListenerHostname',
    'Accepted False NoMatchingParent',
    'Accepted False NoValidCACertificate',
    'Accepted False NotAllowed',
    'Accepted False NotAllowedByListeners',
    'Accepted False TargetNotFound',
    'Accepted False UnsupportedAddress',
    'Accepted False UnsupportedProtocol',
    'Accepted True Accepted',
    'Conflicted False NoConflicts',
    'Programmed False AddressNotAssigned',
    'Programmed False AddressNotUsable',
    'Programmed False Invalid',
    'Programmed False NotAllowed',
    'Programmed False UnsupportedAddress',
    'Programmed True Programmed',
    'ResolvedRefs False BackendNotFound',
    'ResolvedRefs False InvalidCACertificateRef',
    'ResolvedRefs False InvalidCertificateRef',
    'ResolvedRefs False InvalidDestination',
    'ResolvedRefs False InvalidExtensionRef',
    'ResolvedRefs False InvalidFilter',
    'ResolvedRefs False InvalidKind',
    'ResolvedRefs False InvalidRouteKinds',
    'ResolvedRefs False RefNotPermitted',
    'ResolvedRefs True ResolvedRefs',
  ]);
});
