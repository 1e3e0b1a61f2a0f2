// The CRDs that constraints and types are generated from: released Go modules, by name, version and checksum. `go mod download` finds them in
// Go's module cache or brings them there; the checksum is that of go.sum files.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const MODULES = {
  /** Under the Apache License 2.0, as Periplus is; copyright of the Istio Authors. */
  istio: {
    name: 'istio.io/api',
    version: 'v1.30.3',
    sum: 'h1:pPSa0uah/t7CEuwacS4rw5qK/oHGvxC0WO8i4RRGwEU=',
    files: ['kubernetes/customresourcedefinitions.gen.yaml'],
  },
  /** Under the Apache License 2.0; copyright of the Kubernetes Authors. The experimental channel holds every field of the standard one. */
  gatewayApi: {
    name: 'sigs.k8s.io/gateway-api',
    version: 'v1.5.1',
    sum: 'h1:RqVRIlkhLhUO8wOHKTLnTJA6o/1un4po4/6M1nRzdd0=',
    files: ['config/crd/experimental'],
  },
  /** Under the Apache License 2.0; copyright of the Kubernetes Authors. */
  inference: {
    name: 'sigs.k8s.io/gateway-api-inference-extension',
    version: 'v1.4.0',
    sum: 'h1:V+5u0J64qDbLYx4M/PkpsGa5bjeRjWUVybQ00axEkE0=',
    files: ['config/crd/bases/inference.networking.k8s.io_inferencepools.yaml'],
  },
};

export const versionOf = source => `${MODULES[source].name} ${MODULES[source].version}`;

/** The CRDs of a module, in the order of their names. */
export function crdsOf(source) {
  const { name, version, sum, files } = MODULES[source];
  const answer = JSON.parse(
    execFileSync('go', ['mod', 'download', '-json', `${name}@${version}`], { encoding: 'utf8' }),
  );
  if (answer.Sum !== sum) throw new Error(`${name}@${version}: checksum ${answer.Sum}, expected ${sum}`);
  return files
    .flatMap(file =>
      file.endsWith('.yaml') ? [file] : readdirSync(join(answer.Dir, file)).map(one => join(file, one)),
    )
    .sort()
    .flatMap(file => parseAllDocuments(readFileSync(join(answer.Dir, file), 'utf8')))
    .map(document => document.toJS())
    .filter(document => document?.kind === 'CustomResourceDefinition');
}
