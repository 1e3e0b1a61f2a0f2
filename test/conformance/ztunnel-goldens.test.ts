// Istio's own golden files of the policies that ztunnel is sent (pilot/pkg/serviceregistry/ambient/testdata). They lie
// beside the project with the conformance vectors; without them this suite says by name that it did not run, and fails
// under PERIPLUS_REQUIRE_ALL=1.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import { workloadAuthorizations } from '../../src/xds/assemble/workload/resources.ts';
import { encodeMessage } from '../../src/xds/engine/encode.ts';
import { toProtoJson } from '../../src/xds/wire/protojson.ts';
import { ambientWorld } from '../unit/core/select/ambient/fixtures.ts';
import { ask } from '../unit/world.ts';
import { findVectors } from './vectors.ts';

const vectors = findVectors();
const folder = 'missing' in vectors ? '' : join(dirname(vectors.cases), 'goldens/ambient');
const missing = folder === '' || !existsSync(folder);
const SUFFIX = '-in.yaml';
const TYPE = 'istio.security.Authorization';
/** Of the objects in the files, which name none. */
const NAMESPACE = 'default';

/** The one policy that is made of the objects of a file, besides the one for all; null: there is none. */
function policyOf(name: string): Json {
  const input = readFileSync(join(folder, `${name}${SUFFIX}`), 'utf8');
  const made = ask(ambientWorld([input], {}, { rootNamespace: 'istio-system' }), workloadAuthorizations, '');
  const own = made.filter(policy => !policy.name.endsWith('/istio_converted_static_strict'));
  expect(own.length).toBeLessThan(2);
  const [policy] = own;
  if (policy === undefined) return null;
  const { namespace, ...rest } = toProtoJson(TYPE, encodeMessage(TYPE, policy.message)) as JsonObject;
  return namespace === NAMESPACE ? rest : { ...rest, namespace };
}

if (missing) {
  describe("Istio's golden files of policies for ztunnel", () => {
    it('exist beside the project if these cases are to run', () => {
      if (process.env.PERIPLUS_REQUIRE_ALL === '1') throw new Error('no ../shared/conformance/goldens/ambient');
      process.stderr.write(
        "Istio's golden files of policies for ztunnel did NOT run: no conformance vectors beside the project\n",
      );
    });
  });
} else {
  describe('Istio’s golden files of policies for ztunnel are reproduced', () => {
    const names = readdirSync(folder)
      .filter(file => file.endsWith(SUFFIX))
      .map(file => file.slice(0, -SUFFIX.length));
    it.each(names)('%s', name => {
      const expected = parse(readFileSync(join(folder, `${name}.yaml`), 'utf8')) as JsonObject | null;
      expect(policyOf(name)).toEqual(expected);
    });
  });
}
