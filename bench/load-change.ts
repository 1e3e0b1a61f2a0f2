// One change of a served folder as the load tool makes it: a shell command that it runs with the number of the round.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../src/core/base/json.ts';
import type { Change } from './load-tool.ts';

/** What `from` is in the text of a file becomes `to`, with the round for `@ROUND@`. */
export function changeIn(
  folder: string,
  mesh: string,
  { file, text, from, to }: Readonly<Record<'file' | 'text' | 'from' | 'to', string>>,
): Change {
  const [before, after] = to.split('@ROUND@');
  const template = join(folder, `template-${before!.replace(/[^a-z]/g, '')}-${file}`);
  const changed = text.replaceAll(from, to);
  if (changed === text) throw new Error(`${file} has no ${from}`);
  writeFileSync(template, changed);
  // Written beside and moved: the server never reads half a file.
  const trigger = `sed 's/@ROUND@/%d/' ${template} > ${folder}/next && mv ${folder}/next ${join(mesh, file)}`;
  return { marker: `${before}%d${after}`.replaceAll('"', ''), trigger };
}

/** One endpoint of a service changes its address. `original`: the folder that `mesh` is a copy of. */
export function endpointChange(folder: string, original: string, mesh: string): Change {
  const file = 'endpointslice-ns-0-svc-0-x.yaml';
  const text = readFileSync(join(original, file), 'utf8');
  return changeIn(folder, mesh, { file, text, from: '172.16.0.0', to: '172.31.@ROUND@.77' });
}

/** Twenty rules for every workload of the mesh, the paths below `path`. */
export function policyOf(path: string): JsonObject {
  const rules = Array.from({ length: 20 }, (_, i) => ({
    from: [{ source: { principals: [`cluster.local/ns/ns-0/sa/svc-${i}`] } }],
    to: [{ operation: { methods: ['GET'], paths: [`/${path}/${i}`] } }],
  }));
  const metadata = { name: 'readers', namespace: 'istio-system' };
  return { apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata, spec: { rules } };
}
