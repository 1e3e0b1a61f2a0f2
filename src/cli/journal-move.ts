// periplus journal move: a journal becomes the log that replicas share, and back.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { openJournal } from '../journal/open.ts';
import { MoveFault, moveIntoLog, moveOutOfLog } from '../replicas/move.ts';
import { isNatsAddress } from '../replicas/nats/address.ts';
import { NatsLink } from '../replicas/nats/connection.ts';
import { JetStreamLog, UnfitStream } from '../replicas/nats/jetstream-log.ts';
import { CliError, EXIT, parseFormat, print, printData, progress, tell } from './output.ts';
import { addLogFlags, logSettingsOf, type ReplicaFlags } from './replica-flags.ts';

interface Flags extends Omit<ReplicaFlags, 'journal' | 'journalMirror' | 'replicaId'> {
  readonly replace: boolean;
  readonly output: string;
}

export function moveCommand(): Command {
  const command = new Command('move')
    .description('carry a journal into a log that replicas share, or such a log into a journal')
    .argument('<from>', 'a journal file, or nats://HOST:PORT,…/MESH')
    .argument('<to>', 'the other of the two')
    .option('--journalKey <file>', 'key that seals secrets, the same for both (default: that of the file)')
    .option('--replace', 'delete the log that is there first: it was lost or rolled back', false)
    .option('-o, --output <format>', 'table, json or yaml', 'table');
  return addLogFlags(command)
    .addHelpText(
      'after',
      `
Every control plane of the journal or the log must be stopped. Facts of the world are carried over, in order and with their times; connections and receipts of
proxies stay in the file. After a log was lost, move the longest mirror into a new one with --replace (/debug/replicasz has the position of each replica),
and move the mirrors of all replicas aside, that one too: they follow the log that was lost, and are refused by the new one.

Examples:
  periplus journal move .periplus/journal.db nats://nats-0:4222,nats-1:4222,nats-2:4222/prod --journalKey key
  periplus journal move nats://nats-0:4222/prod prod.db --journalKey key`,
    )
    .action(async (from: string, to: string, flags: Flags) => {
      if (isNatsAddress(from) === isNatsAddress(to)) {
        throw new CliError(
          'journal move: one of the two must be a file, the other nats://HOST:PORT,…/MESH',
          EXIT.misuse,
        );
      }
      const format = parseFormat(flags.output);
      const isInto = isNatsAddress(to);
      const [file, address] = isInto ? [from, to] : [to, from];
      if (isInto !== existsSync(file)) throw new CliError(`${file}: ${isInto ? 'there is no such journal' : 'exists'}`);
      const given = logSettingsOf({ ...flags, journal: address }, MOVE_ID);
      const link = new NatsLink({
        ...given,
        name: MOVE_ID,
        say: (_level, message) => tell(message),
      });
      const log = new JetStreamLog({ link, mesh: given.address.mesh, replicas: given.streamReplicas });
      try {
        const facts = await (isInto ? into(file, log, flags) : outOf(log, file, flags));
        if (format !== 'table') return printData({ facts, from, to }, format);
        print(`${facts} facts of ${isInto ? file : log.name} are in ${isInto ? log.name : file}`);
        if (isInto)
          print('move the mirrors of all replicas aside before they start: each begins a new one of this log');
      } catch (error) {
        if (error instanceof MoveFault || error instanceof UnfitStream) throw new CliError(error.message);
        throw error;
      } finally {
        await link.close();
      }
    });
}

const MOVE_ID = 'periplus-journal-move';

async function into(file: string, log: JetStreamLog, { journalKey, replace }: Flags): Promise<number> {
  const journal = await openJournal(file, { keyFile: journalKey });
  const line = progress('moving');
  try {
    if (replace) await log.remove();
    await log.prepare();
    return await moveIntoLog(journal, log, { name: randomUUID(), now: Date.now, onProgress: line.show });
  } finally {
    line.end();
    await journal.close();
  }
}

async function outOf(log: JetStreamLog, file: string, { journalKey }: Flags): Promise<number> {
  const journal = await openJournal(file, { keyFile: journalKey });
  const line = progress('moving');
  try {
    return await moveOutOfLog(log, journal, line.show);
  } finally {
    line.end();
    await journal.close();
  }
}
