// `npm run -s conformance:generate -- CASES OUT [--group GROUP …]`: generates, for every case and proxy of a directory of conformance
// vectors, what the proxy would be sent, as OUT/GROUP/CASE/PROXY/TYPE.json. One process; a case that fails does not stop the others.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { canonicalJson } from '../../src/core/json.ts';
import { showOrigin, showProblem } from '../../src/core/problem.ts';
import { Tracker } from '../../src/core/track.ts';
import { collect } from '../../src/runtime/collect.ts';
import { foldFacts, proxyFacts } from '../../src/runtime/offline.ts';
import { listCases, readCase } from './layout.ts';

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
  cases.forEach((name, i) => {
    const report = (what: string, error: unknown): void => {
      failures++;
      const shown = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.stderr.write(`${name}: ${what}: ${shown}\n`);
    };
    process.stdout.write(`${i + 1}/${cases.length} ${name}\n`);
    try {
      generateCase(join(casesFolder, name), join(out, name), values.verbose === true, report);
    } catch (error) {
      report('case', error);
    }
  });
  process.stdout.write(`${cases.length} cases, ${failures} failures\n`);
  return 0;
}

function generateCase(
  folder: string,
  out: string,
  verbose: boolean,
  report: (what: string, error: unknown) => void,
): void {
  const given = readCase(folder);
  const input = foldFacts(given.facts);
  if (verbose) {
    for (const effect of input.effects) {
      if (effect.kind !== 'Verdict' || effect.accepted) continue;
      const problems = effect.problems.map(showProblem).join('; ');
      process.stderr.write(`${showOrigin(effect.origin)}: ${effect.object}: ${problems}\n`);
    }
  }
  const tracker = new Tracker();
  for (const asked of given.proxies) {
    const { state } = foldFacts(proxyFacts(asked.name, asked.node), input.state);
    const proxy = state.proxies.get(asked.name);
    if (proxy === undefined) {
      report(asked.name, 'the node was refused');
      continue;
    }
    const failed = (what: string, error: unknown): void => report(`${asked.name}: ${what}`, error);
    const collected = collect({ tracker, state, proxy, failed }, asked);
    mkdirSync(join(out, asked.name), { recursive: true });
    for (const [type, resources] of Object.entries(collected)) {
      writeFileSync(join(out, asked.name, `${type}.json`), `${canonicalJson(resources)}\n`);
    }
  }
}

process.exitCode = main();
