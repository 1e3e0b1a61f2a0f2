// `npm run test:gateway-api [-- --profiles A,B] [--tests A,B] [--report FILE] [--folder DIR]`: the official conformance
// suite of the Gateway API against `periplus serve` and stock Envoys. Ends with the number of tests that passed; exit
// code 1 if one failed.

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import build from '../build.ts';
import { PROFILES, parts, runSuite } from './rig.ts';

const { values } = parseArgs({
  options: {
    profiles: { type: 'string', default: PROFILES.join(',') },
    tests: { type: 'string', default: '' },
    report: { type: 'string' },
    folder: { type: 'string' },
  },
});
const found = await parts();
if ('missing' in found) {
  process.stderr.write(`the suite cannot run: ${found.missing}\n`);
  process.exit(2);
}
build();
const folder = resolve(values.folder ?? (await mkdtemp(join(tmpdir(), 'periplus-gateway-api-'))));
process.stdout.write(`logs are in ${folder}\n`);
const verdicts = await runSuite(
  {
    ...found,
    folder,
    profiles: values.profiles.split(','),
    tests: values.tests.split(',').filter(name => name !== ''),
    ...(values.report === undefined ? {} : { report: resolve(values.report) }),
  },
  line => process.stdout.write(`${line}\n`),
);
const count = (verdict: string): number => [...verdicts.values()].filter(one => one === verdict).length;
process.stdout.write(`${count('PASS')} passed, ${count('FAIL')} failed, ${count('SKIP')} skipped\n`);
process.exit(count('FAIL') === 0 && count('PASS') > 0 ? 0 : 1);
