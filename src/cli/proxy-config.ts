// periplus proxy-config: what a proxy holds, now or at any position of the journal, or what its Envoy says, in
// istioctl's tables or whole.

import { Command } from 'commander';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { ConfigDump } from '../history/config-dump.ts';
import { nearestText } from '../history/nearest.ts';
import type { DumpedResource } from '../history/proxy-answers.ts';
import { clusterRows, endpointRows, listenerRows, routeRows } from '../history/rows.ts';
import { CDS, ECDS, EDS, LDS, RDS, SDS } from '../xds/session/types.ts';
import { askEnvoy, ENVOY_FLAG } from './envoy-admin.ts';
import { CliError, EXIT, parseFormat, print, printData, printTable, tell } from './output.ts';
import { bootstrapCommand, logCommand, showSecrets } from './proxy-config-envoy.ts';
import { dumpOfProxy } from './proxy-dump.ts';
import { AT_HELP, type TargetOptions, withTargetOptions } from './target.ts';

/** Domains of a virtual host that a table shows; -o json has all. */
const DOMAINS_SHOWN_MAX = 2;

interface Flags extends TargetOptions {
  readonly envoy?: string;
  readonly output: string;
  readonly fqdn?: string;
  readonly port?: string;
  readonly subset?: string;
  readonly direction?: string;
  readonly name?: string;
  readonly cluster?: string;
}

interface Part {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly typeUrls: readonly string[];
  /** What the table is made of, if that is more. */
  readonly reads?: readonly string[];
  readonly what: string;
  readonly options: readonly (readonly [flag: string, text: string])[];
  /** Prints the table; returns its rows. */
  readonly show: (dump: ConfigDump, flags: Flags) => number;
}

const parts: readonly Part[] = [
  {
    name: 'cluster',
    aliases: ['clusters', 'c'],
    typeUrls: [CDS],
    what: 'clusters',
    options: [
      ['--fqdn <host>', 'only clusters of this service'],
      ['--port <port>', 'only of this port'],
      ['--subset <name>', 'only of this subset'],
      ['--direction <direction>', 'inbound or outbound'],
    ],
    show: showClusters,
  },
  {
    name: 'listener',
    aliases: ['listeners', 'l'],
    typeUrls: [LDS],
    what: 'listeners with their filter chains',
    options: [['--port <port>', 'only listeners of this port']],
    show: showListeners,
  },
  {
    name: 'route',
    aliases: ['routes', 'r'],
    typeUrls: [RDS],
    what: 'route configurations with their virtual hosts and routes',
    options: [['--name <route>', 'only this route configuration']],
    show: showRoutes,
  },
  {
    name: 'endpoint',
    aliases: ['endpoints', 'ep'],
    typeUrls: [EDS],
    reads: [CDS, EDS],
    what: 'endpoints of the clusters',
    options: [
      ['--cluster <name>', 'only of this cluster'],
      ['--port <port>', 'only with this port'],
    ],
    show: showEndpoints,
  },
  {
    name: 'ecds',
    aliases: ['ec'],
    typeUrls: [ECDS],
    reads: [LDS, ECDS],
    what: 'extension configurations: Wasm modules',
    options: [],
    show: showExtensions,
  },
  {
    name: 'secret',
    aliases: ['secrets', 's'],
    typeUrls: [SDS],
    what: 'secrets, with the dates of their certificates',
    options: [],
    show: dump => showSecrets(dump),
  },
  {
    name: 'all',
    aliases: ['a'],
    typeUrls: [CDS, EDS, LDS, RDS, SDS, ECDS],
    what: 'everything',
    options: [],
    show: (dump, flags) =>
      [showClusters, showListeners, showRoutes, showEndpoints].reduce((rows, show, i) => {
        if (i > 0) print('');
        return rows + show(dump, flags);
      }, 0),
  },
];

export function proxyConfigCommand(): Command {
  const command = new Command('proxy-config')
    .alias('pc')
    .description('show what a proxy holds: of a running control plane, or of a journal at any position');
  for (const part of parts) command.addCommand(partCommand(part));
  command.addCommand(bootstrapCommand()).addCommand(logCommand());
  return command.addHelpText(
    'after',
    `
Examples:
  periplus proxy-config cluster productpage-v1.default
  periplus proxy-config route productpage --name 9080 --at 14:03
  periplus proxy-config endpoint productpage --journal incident.db --at head~10 -o json
  periplus proxy-config secret ingressgateway --envoy localhost:15000
  periplus proxy-config log productpage --envoy localhost:15000 --level http:debug,rbac:trace`,
  );
}

function partCommand(part: Part): Command {
  const command = new Command(part.name)
    .aliases(part.aliases)
    .description(`${part.what} of a proxy`)
    .argument('<proxy>', 'its pod, pod.namespace, or connection');
  withTargetOptions(command);
  for (const [flag, text] of part.options) command.option(flag, text);
  return command
    .option(...ENVOY_FLAG)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', `\n${AT_HELP}\nThe tables have istioctl's columns; json and yaml hold every field.`)
    .action(async (proxy: string, flags: Flags) => {
      const format = parseFormat(flags.output);
      const dump = await dumpFor(proxy, flags, part.reads ?? part.typeUrls);
      const held = heldOf(dump, part.typeUrls);
      const resources = held.filter(one => isWanted(part, one, flags));
      const shown = format === 'table' ? part.show(dump, flags) : resources.length;
      if (format !== 'table') printData(resources.map(({ resource }) => resource) as unknown as Json, format);
      if (shown === 0) tellNothing(proxy, part, flags, heldOf(dump, part.reads ?? part.typeUrls));
    });
}

async function dumpFor(proxy: string, flags: Flags, types: readonly string[]): Promise<ConfigDump> {
  if (flags.envoy !== undefined) {
    if (flags.journal === undefined && flags.at === undefined) return (await askEnvoy(flags.envoy)).dump;
    throw new CliError('an Envoy knows what it has now: --envoy goes without --journal and --at', EXIT.misuse);
  }
  return dumpOfProxy(proxy, flags, types);
}

function heldOf({ configs }: ConfigDump, types: readonly string[]): readonly DumpedResource[] {
  return configs.filter(({ typeUrl }) => types.includes(typeUrl)).flatMap(({ resources }) => resources);
}

/** An empty table does not say whether the proxy has none, or none of what the flags ask for, which is a failure. */
function tellNothing(proxy: string, { name }: Part, flags: Flags, held: readonly DumpedResource[]): void {
  const asked = [flags.name, flags.cluster, flags.fqdn, flags.subset, flags.direction, flags.port];
  const [first] = asked.filter(value => value !== undefined);
  if (first === undefined) {
    tell(`${proxy} has no ${name}`);
    return;
  }
  const near = nearestText(
    first,
    held.map(one => one.name),
  );
  throw new CliError(`${proxy} has no ${name} that the flags ask for${near}`);
}

function isWanted(part: Part, { name, resource }: DumpedResource, flags: Flags): boolean {
  if (part.name === 'route') return flags.name === undefined || name === flags.name;
  if (part.name === 'endpoint') return flags.cluster === undefined || name === flags.cluster;
  if (part.name === 'listener') return flags.port === undefined || String(portOf(resource)) === flags.port;
  if (part.name === 'cluster') return matchesCluster(name, flags);
  return true;
}

function portOf({ address }: JsonObject): Json | undefined {
  const socket = isObject(address) ? address.socketAddress : undefined;
  return isObject(socket) ? socket.portValue : undefined;
}

function matchesCluster(name: string, { fqdn, port, subset, direction }: Flags): boolean {
  const [way = '', number = '', set = '', host = name] = name.split('|');
  return (
    (fqdn === undefined || host === fqdn) &&
    (port === undefined || number === port) &&
    (subset === undefined || set === subset) &&
    (direction === undefined || way === direction)
  );
}

function showClusters(dump: ConfigDump, flags: Flags): number {
  const rows = clusterRows(dump).filter(row => matchesCluster(row.name, flags));
  printTable(
    ['SERVICE FQDN', 'PORT', 'SUBSET', 'DIRECTION', 'TYPE', 'DESTINATION RULE'],
    rows.map(row => [
      row.fqdn,
      row.port === 0 ? '-' : String(row.port),
      row.subset || '-',
      row.direction || '-',
      row.type,
      row.destinationRule,
    ]),
  );
  return rows.length;
}

function showListeners(dump: ConfigDump, flags: Flags): number {
  const rows = listenerRows(dump).filter(row => flags.port === undefined || String(row.port) === flags.port);
  printTable(
    ['ADDRESSES', 'PORT', 'MATCH', 'DESTINATION'],
    rows.map(row => [row.address, String(row.port), row.match, row.destination]),
  );
  return rows.length;
}

/** The type is the filter's: a Wasm module, or what takes its place. */
function showExtensions({ configs }: ConfigDump): number {
  const found = configs.find(({ typeUrl }) => typeUrl === ECDS)?.resources ?? [];
  const typeOf = (resource: JsonObject): string => {
    const url = isObject(resource.typedConfig) ? String(resource.typedConfig['@type']) : '';
    return url.slice(url.lastIndexOf('.') + 1);
  };
  printTable(
    ['ECDS NAME', 'TYPE'],
    found.map(({ name, resource }) => [name, typeOf(resource)]),
  );
  return found.length;
}

function showRoutes(dump: ConfigDump, flags: Flags): number {
  const rows = routeRows(dump).filter(row => flags.name === undefined || row.route === flags.name);
  printTable(
    ['NAME', 'VHOST NAME', 'DOMAINS', 'MATCH', 'VIRTUAL SERVICE'],
    rows.map(row => [row.route, row.virtualHost, domainsText(row.domains), row.match, row.virtualService]),
  );
  return rows.length;
}

function domainsText(domains: readonly string[]): string {
  const shown = domains.slice(0, DOMAINS_SHOWN_MAX).join(', ');
  const more = domains.length - DOMAINS_SHOWN_MAX;
  return more > 0 ? `${shown} + ${more} more...` : shown;
}

function showEndpoints(dump: ConfigDump, flags: Flags): number {
  const rows = endpointRows(dump).filter(
    row =>
      (flags.cluster === undefined || row.cluster === flags.cluster) &&
      (flags.port === undefined || row.endpoint.endsWith(`:${flags.port}`)),
  );
  printTable(
    ['ENDPOINT', 'STATUS', 'CLUSTER'],
    rows.map(row => [row.endpoint, row.status, row.cluster]),
  );
  return rows.length;
}
