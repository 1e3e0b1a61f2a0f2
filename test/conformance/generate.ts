// `npm run -s conformance:generate -- CASES OUT [--group GROUP …]`: generates, for every case and proxy of a directory
// of conformance vectors, what the proxy would be sent, as OUT/GROUP/CASE/PROXY/TYPE.json. One process; a case that
// fails does not stop the others.

import { parseArgs } from 'node:util';
import { showOrigin, showProblem } from '../../src/core/base/problem.ts';
import type { Effect } from '../../src/core/effect.ts';
import { generateCases } from './generate-cases.ts';
import { listCases } from './layout.ts';

const usage = `Usage: npm run -s conformance:generate -- CASES OUT [--group GROUP …]

Reads CASES/GROUP/CASE/{input,input-CLUSTER,mesh,networks,env,proxies}.yaml and writes OUT/GROUP/CASE/PROXY/TYPE.json.

  --group GROUP   only this group; may be repeated
  --verbose       show which objects were refused, and why
  --help          show this text
`;

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      group: { type: 'string', multiple: true },
      verbose: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const [casesFolder, out] = positionals;
  if (values.help === true || casesFolder === undefined || out === undefined) {
    process.stderr.write(usage);
    return values.help === true ? 0 : 2;
  }
  let cases: readonly string[];
  try {
    cases = listCases(casesFolder, values.group ?? []);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  let failures = 0;
  generateCases(casesFolder, out, cases, {
    started: (name, index) => process.stdout.write(`${index + 1}/${cases.length} ${name}\n`),
    failed: (name, what, error) => {
      failures++;
      const shown = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.stderr.write(`${name}: ${what}: ${shown}\n`);
    },
    ...(values.verbose === true ? { folded: showRefused } : {}),
  });
  process.stdout.write(`${cases.length} cases, ${failures} failures\n`);
  return 0;
}

function showRefused(effects: readonly Effect[]): void {
  for (const effect of effects) {
    if (effect.kind !== 'Verdict' || effect.accepted) continue;
    const problems = effect.problems.map(showProblem).join('; ');
    process.stderr.write(`${showOrigin(effect.origin)}: ${effect.object}: ${problems}\n`);
  }
}

process.exitCode = main();
