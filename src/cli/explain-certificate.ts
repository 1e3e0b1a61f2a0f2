// periplus explain certificate: why a signing request was refused, and what the identity held at that time.

import { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import { identitiesAt, type RefusedRequest } from '../history/identities.ts';
import { EXIT, parseFormat, print, printData, showTime } from './output.ts';
import { AT_HELP, journalOption, positionOf, withHistory } from './target.ts';

interface Flags {
  readonly journal: string;
  readonly at?: string;
  readonly output: string;
}

/** What agents do with each code, and where the reason is to be removed. */
const ADVICE: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'the agent tries again with a new token; a node agent needs an account in CA_TRUSTED_NODE_ACCOUNTS',
  INVALID_ARGUMENT:
    'the agent sends the same again and fails again: its request or the lifetime that it asks for is wrong',
  INTERNAL: 'the agent tries again: the authority could not sign',
};

export function certificateCommand(): Command {
  return new Command('certificate')
    .description('explain why signing requests of an identity were refused')
    .argument('<identity>', 'a part of a SPIFFE id, e.g. ns/shop/sa/web')
    .option(...journalOption)
    .option('--at <position>', 'up to an event or a time; default: the end of the journal')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `\n${AT_HELP}\nExit code 0: a request was refused, and why; 1: none was.\nA caller that proves no identity is counted (citadel_server_authentication_failure_count) and not recorded.`,
    )
    .action(async (part: string, { journal: path, at, output }: Flags) => {
      const format = parseFormat(output);
      await withHistory(path, async history => {
        const to = await positionOf(history, at);
        const { held, refused: about } = await identitiesAt(history.journal, { to, part, expired: false });
        if (format !== 'table') printData({ refused: about, held } as unknown as Json, format);
        else {
          for (const one of about) showRefusal(one);
          if (about.length === 0) print(`no signing request of ${part} was refused`);
          for (const { identities, serial, notAfter } of held) {
            print(`\nholds ${identities.join(' ')}, serial ${serial}, until ${showTime(notAfter)}`);
          }
        }
        if (about.length === 0) process.exitCode = EXIT.failed;
      });
    });
}

function showRefusal({ identities, impersonated, at, code, reason, proof, seq }: RefusedRequest): void {
  print(`${showTime(at)}  event ${seq}  ${code}: ${reason}`);
  print(`    asked by ${identities.join(' ')}, proven by ${proof}`);
  if (impersonated !== undefined) print(`    for ${impersonated}`);
  const advice = ADVICE[code];
  if (advice !== undefined) print(`    ${advice}`);
}
