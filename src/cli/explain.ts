// periplus explain: why a proxy has what it has, or has not; what a push brought and why; what a NACK was about.

import { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import { explainAbsence, namesMeant } from '../history/absence.ts';
import type { Absence, Cause, Explanation, LastChange, NackExplanation, PushExplanation } from '../history/answers.ts';
import { effectOf, type ObjectEffect } from '../history/effect-of.ts';
import { explain } from '../history/explain.ts';
import { objectNamed } from '../history/object-name.ts';
import { proxyNamed } from '../history/proxies.ts';
import { explainNack, explainPush } from '../history/pushes.ts';
import {
  clusterSubject,
  endpointSubject,
  extensionSubject,
  listenerSubject,
  routeSubject,
  type Subject,
  virtualHostSubject,
} from '../history/subject.ts';
import { certificateCommand } from './explain-certificate.ts';
import { seqOf } from './journal-file.ts';
import { EXIT, parseFormat, print, printData, showTime } from './output.ts';
import { AT_HELP, DEFAULT_JOURNAL, positionOf, tellOfPods, withHistory } from './target.ts';

/** Paths, values and names that are listed in text; -o json has all. */
const SHOWN_MAX = 6;
const VALUE_CHARS_MAX = 80;

interface Flags {
  readonly journal: string;
  readonly proxy: string;
  readonly at?: string;
  readonly reads: boolean;
  readonly output: string;
  readonly route?: string;
  readonly cluster?: string;
}

export function explainCommand(): Command {
  const command = new Command('explain').description(
    'explain which objects, fields and events made a resource of a proxy, or why the proxy lacks it',
  );
  command.addCommand(
    about('cluster', 'a cluster', 'its name, e.g. "outbound|9080|v1|reviews.shop.svc.cluster.local"', clusterSubject),
  );
  command.addCommand(about('listener', 'a listener', 'its name, e.g. 0.0.0.0_9080', listenerSubject));
  const filter = 'the name of its filter, e.g. extensions.istio.io/trafficextension/shop.auth';
  command.addCommand(about('extension', 'an extension configuration: a Wasm module', filter, extensionSubject));
  command.addCommand(about('route', 'a route configuration', 'its name, e.g. 9080', routeSubject));
  command.addCommand(
    about('virtual-host', 'a virtual host: the routes of a host', 'a host, with or without port', (host, flags) =>
      virtualHostSubject(host, flags.route),
    )
      .option('--route <name>', 'only in this route configuration')
      .alias('host'),
  );
  command.addCommand(
    about('endpoint', 'an endpoint', 'its address, with or without port', (address, flags) =>
      endpointSubject(address, flags.cluster),
    ).option('--cluster <name>', 'only in this cluster'),
  );
  command.addCommand(objectCommand());
  command.addCommand(pushCommand());
  command.addCommand(nackCommand());
  command.addCommand(certificateCommand());
  return command.addHelpText(
    'after',
    `
Each object that was read is removed in a trial, then each field of the objects that matter: what changes in the
trial is what it decides. Exit code 0: it is there and explained; 1: it is not there, and why.

Examples:
  periplus explain virtual-host reviews --proxy productpage
  periplus explain cluster "outbound|9080|v3|reviews.shop.svc.cluster.local" --proxy productpage --at 10:20
  periplus explain object VirtualService/shop/reviews --proxy productpage
  periplus explain push 112
  periplus explain nack --journal incident.db
  periplus explain certificate ns/shop/sa/web`,
  );
}

function about(
  name: string,
  what: string,
  argument: string,
  subjectOf: (name: string, flags: Flags) => Subject,
): Command {
  return new Command(name)
    .description(`explain ${what} of a proxy`)
    .argument('<name>', argument)
    .requiredOption('-p, --proxy <proxy>', 'pod, pod.namespace, or connection')
    .option('-j, --journal <file>', 'journal to read; a running control plane may be writing it', DEFAULT_JOURNAL)
    .option('--at <position>', 'as it was at an event or a time; default: the end of the journal')
    .option('--reads', 'also list reads without effect, and reads that found nothing', false)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', `\n${AT_HELP}`)
    .action(async (given: string, flags: Flags) => {
      const format = parseFormat(flags.output);
      await withHistory(flags.journal, async history => {
        const state = await history.at(await positionOf(history, flags.at));
        tellOfPods(state);
        const proxy = proxyNamed(state, flags.proxy);
        const subject = subjectOf(given, flags);
        const explanation = await explain(history, state, proxy, subject);
        const absence = explanation === undefined ? await explainAbsence(history, state, proxy, subject) : undefined;
        const names = (): Iterable<string> => subject.names(history.tracker, state, proxy);
        const nearest = absence === undefined ? [] : namesMeant(absence, given, names);
        const found = explanation ?? { ...absence, nearest };
        if (format !== 'table') printData(found as unknown as Json, format);
        else if (explanation !== undefined) showExplanation(explanation, flags.reads);
        else {
          showAbsence(found as Absence, flags.reads);
          if (nearest.length > 0) print(`\nnearest names that it has: ${nearest.join(', ')}`);
        }
        if (explanation === undefined) process.exitCode = EXIT.failed;
      });
    });
}

function objectCommand(): Command {
  return new Command('object')
    .description('explain what an object does for a proxy, or why it does nothing')
    .argument('<object>', 'Kind/namespace/name, e.g. VirtualService/shop/reviews')
    .requiredOption('-p, --proxy <proxy>', 'pod, pod.namespace, or connection')
    .option('-j, --journal <file>', 'journal to read; a running control plane may be writing it', DEFAULT_JOURNAL)
    .option('--at <position>', 'as it was at an event or a time; default: the end of the journal')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', `\n${AT_HELP}\nExit code 0: it does something; 1: it does nothing for this proxy, and why.`)
    .action(async (object: string, flags: Flags) => {
      const format = parseFormat(flags.output);
      await withHistory(flags.journal, async history => {
        const state = await history.at(await positionOf(history, flags.at));
        tellOfPods(state);
        const found = await effectOf(history, state, proxyNamed(state, flags.proxy), objectNamed(object));
        if (format === 'table') showEffect(found);
        else printData(found as unknown as Json, format);
        if (found.effect === undefined) process.exitCode = EXIT.failed;
      });
    });
}

function showEffect({ object, proxy, seq, time, lastChange, effect, obstacles }: ObjectEffect): void {
  print(`${object} for ${proxy}, at event ${seq} (${showTime(time)})`);
  print(`    ${lastChangeText(lastChange)}`);
  if (effect !== undefined) {
    print('\nwhat it does, held against the mesh without it');
    for (const { message } of effect.warnings) print(`  WARNING ${message}`);
    for (const line of effect.summary) print(`  ${line}`);
    return;
  }
  print('\nit does nothing');
  for (const { why, lastChange: other } of obstacles) {
    print(`  ${why}`);
    if (other !== undefined) print(`    ${lastChangeText(other)}`);
  }
}

function pushCommand(): Command {
  return new Command('push')
    .description('explain a push: what changed in it, and the events that caused it')
    .argument('<seq>', 'number of its receipt; `journal ls --kind Receipt` lists them')
    .option('-j, --journal <file>', 'journal to read', DEFAULT_JOURNAL)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (seq: string, flags: Flags) => {
      const format = parseFormat(flags.output);
      await withHistory(flags.journal, async history => {
        const push = await explainPush(history, seqOf(seq));
        if (format === 'table') showPush(push);
        else printData(push as unknown as Json, format);
      });
    });
}

function nackCommand(): Command {
  return new Command('nack')
    .description('explain what a proxy refused: the resources, the objects behind them, and what had changed')
    .argument('[seq]', 'number of the NACK; default: the last one')
    .option('-p, --proxy <proxy>', 'the last one of this proxy')
    .option('-j, --journal <file>', 'journal to read', DEFAULT_JOURNAL)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (seq: string | undefined, flags: Flags) => {
      const format = parseFormat(flags.output);
      await withHistory(flags.journal, async history => {
        const nack = await explainNack(history, seq === undefined ? undefined : seqOf(seq), flags.proxy);
        if (format === 'table') showNack(nack);
        else printData(nack as unknown as Json, format);
      });
    });
}

function showExplanation(found: Explanation, reads: boolean): void {
  print(`${found.what} of ${found.proxy}, at event ${found.seq} (${showTime(found.time)})`);
  print('\nmade by');
  for (const cause of found.causes) showCause(cause);
  for (const { objects, decides, paths } of found.jointly) {
    const effect =
      decides === 'all' ? 'without all of them there would be none' : `together they decide ${listed(paths)}`;
    print(`  any of ${listed(objects.map(asWritten))}  (${effect})`);
  }
  if (found.causes.length + found.jointly.length === 0)
    print('  no object: it follows from the proxy and the mesh configuration alone');
  if (reads && found.readOnly.length > 0) print(`\nlooked at, without effect: ${listed(found.readOnly)}`);
  if (reads && found.missed.length > 0) print(`\nlooked for, not there: ${listed(found.missed)}`);
  if (found.untried > 0) print(`\n${found.untried} further objects were looked at and not tried`);
}

/** By the kind that the object itself bears. */
function asWritten(object: string): string {
  return object.replace(/^KubernetesGateway\//, 'Gateway/');
}

function showCause({ lastChange, decides, paths, fields }: Cause): void {
  print(
    `  ${asWritten(lastChange.object)}  ${decides === 'all' ? '(without it there would be none)' : `(decides ${listed(paths)})`}`,
  );
  print(`    ${lastChangeText(lastChange)}`);
  for (const { field, value, decides: decided } of fields.slice(0, SHOWN_MAX)) {
    const text = JSON.stringify(value);
    const shown = text.length > VALUE_CHARS_MAX ? `${text.slice(0, VALUE_CHARS_MAX)}…` : text;
    print(`    ${field} = ${shown}${decided.length === 0 ? '' : `  → ${listed(decided)}`}`);
  }
  if (fields.length > SHOWN_MAX) print(`    … ${fields.length - SHOWN_MAX} more fields (-o json)`);
  if (lastChange.refused !== undefined) {
    print(
      `    a newer version was refused by event ${lastChange.refused.seq}: ${lastChange.refused.problems.join('; ')}`,
    );
  }
}

function lastChangeText({ seq, time, source, origin, manager }: LastChange): string {
  const when = time === undefined ? 'before the journal begins' : showTime(time);
  const who = manager === '' ? '' : `, by ${manager}`;
  return `event ${seq}, ${when}, ${source}${origin === '' ? '' : ` ${origin}`}${who}`;
}

function showAbsence(found: Absence, reads: boolean): void {
  print(`${found.proxy} has no ${found.what}, at event ${found.seq} (${showTime(found.time)})`);
  if (found.reasons.length > 0) print('\nbecause');
  for (const { why, lastChange, proven } of found.reasons) {
    print(`  ${why}${proven ? ' (without that it would be there)' : ''}`);
    if (lastChange !== undefined) print(`    ${lastChangeText(lastChange)}`);
  }
  if (found.goneSince !== undefined) {
    const { seq, time, object, lastChange } = found.goneSince;
    print(`\nit was there until ${object === '' ? 'the mesh configuration changed' : asWritten(object)}`);
    const deleted = lastChange?.seq !== seq;
    print(`    ${deleted ? `went with event ${seq}, ${showTime(time)}` : lastChangeText(lastChange)}`);
  }
  if (found.searchedFrom !== undefined) {
    print(
      `\nnot there since event ${found.searchedFrom}; whether before was not searched: --at ${found.searchedFrom - 1}`,
    );
  }
  if (reads && found.missed.length > 0) print(`\nlooked for, not there: ${listed(found.missed)}`);
}

function showPush(push: PushExplanation): void {
  const type = push.typeUrl.slice(push.typeUrl.lastIndexOf('.') + 1);
  print(
    `push ${push.seq}, ${showTime(push.time)}: ${type} to ${push.connections.length} ${push.connections.length === 1 ? 'proxy' : 'proxies'}: ${listed(push.connections)}`,
  );
  const since =
    push.previousStateSeq === undefined
      ? 'the first of this type on the connection'
      : `the one before was of event ${push.previousStateSeq}`;
  print(`made from the state at event ${push.stateSeq}; ${since}`);
  print('\nnew in it');
  for (const { name, change, changes, because } of push.resources.slice(0, SHOWN_MAX)) {
    const where = changes.length === 0 ? '' : `: ${listed(changes.map(({ path }) => path))}`;
    print(`  ${change} ${name}${where}${because.length === 0 ? '' : `\n    because of ${listed(because)}`}`);
  }
  if (push.resources.length > SHOWN_MAX) print(`  … ${push.resources.length - SHOWN_MAX} more resources (-o json)`);
  if (push.resources.length === 0) print('  nothing: the same bytes as before');
  print(`  ${push.unchanged} the same as before`);
  const decisive = new Set(push.resources.flatMap(({ because }) => because));
  const behind = push.causes.filter(({ object }) => decisive.has(object));
  if (behind.length > 0) print('\nevents behind it');
  for (const { seq, time, kind, object, source, manager, reasons } of behind) {
    const who = manager === '' ? source : `${source}, by ${manager}`;
    print(`  ${seq}  ${showTime(time)}  ${kind} ${object}  (${who}; ${reasons.join(', ')})`);
  }
  const others = push.causes.length - behind.length;
  if (others > 0) print(`${others} other ${others === 1 ? 'event' : 'events'} since then changed nothing in it`);
}

function showNack(nack: NackExplanation): void {
  const type = nack.typeUrl.slice(nack.typeUrl.lastIndexOf('.') + 1);
  print(`event ${nack.seq}, ${showTime(nack.time)}: ${nack.connection} refused ${type}`);
  print(`  ${nack.reason}`);
  if (nack.reason !== nack.message) print('  (the whole message: -o json)');
  if (nack.blamed.length > 0) print(`about ${listed(nack.blamed)}`);
  print('');
  if (nack.push === undefined) print('the journal has no response of that type to it');
  else showPush(nack.push);
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_MAX).join(', ');
  return names.length > SHOWN_MAX ? `${shown} and ${names.length - SHOWN_MAX} more` : shown;
}
