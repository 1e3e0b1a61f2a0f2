// The bill of materials of the package (CycloneDX, on stdout): what `npm install --omit=dev` brings, from the lock file.
// `npm sbom --omit dev` leaves out packages that development dependencies need too; here only those that nothing but
// development needs are left out, by the lock file.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const kept = new Set();
for (const [path, { version, dev, devOptional, peer }] of Object.entries(packages)) {
  if (path === '' || dev || devOptional || peer) continue;
  kept.add(`${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`);
}
const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
const sbom = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 }));
const own = sbom.metadata.component['bom-ref'];
const isKept = ref => ref === own || kept.has(ref);
sbom.components = sbom.components.filter(({ name, version }) => kept.has(`${name}@${version}`));
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => isKept(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isKept) }));
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);
