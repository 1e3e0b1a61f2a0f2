// The parts of proxy-config that are about more than routing: secrets with the dates of their certificates, and what
// only Envoy itself can say, its bootstrap and its log levels.
// Source: Istio istioctl/pkg/proxyconfig/proxyconfig.go, istioctl/pkg/writer/envoy/configdump/secret.go.

import { X509Certificate } from 'node:crypto';
import { Command } from 'commander';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { ConfigDump } from '../history/config-dump.ts';
import { SDS } from '../xds/session/types.ts';
import { askEnvoy, ENVOY_FLAG, envoyLogLevels } from './envoy-admin.ts';
import { CliError, EXIT, parseFormat, print, printData, printTable } from './output.ts';

const ONLY_ENVOY = 'only Envoy itself knows it: kubectl port-forward POD 15000, then --envoy localhost:15000';

interface Flags {
  readonly envoy?: string;
  readonly level?: string;
  readonly output: string;
}

/** One row a secret. Of a chain the first certificate counts. */
/** Returns its rows. */
export function showSecrets(dump: ConfigDump, now = Date.now()): number {
  const found = dump.configs.find(({ typeUrl }) => typeUrl === SDS)?.resources ?? [];
  printTable(
    ['RESOURCE NAME', 'TYPE', 'VALID CERT', 'SERIAL NUMBER', 'NOT AFTER', 'NOT BEFORE'],
    found.map(({ name, resource }) => [name, ...secretCells(resource, now)]),
  );
  return found.length;
}

function secretCells(secret: JsonObject, now: number): readonly string[] {
  const own = isObject(secret.tlsCertificate) ? secret.tlsCertificate.certificateChain : undefined;
  const trusted = isObject(secret.validationContext) ? secret.validationContext.trustedCa : undefined;
  const type = own !== undefined ? 'Cert Chain' : trusted !== undefined ? 'CA' : 'other';
  const certificate = certificateIn(own ?? trusted);
  if (certificate === undefined) return [type, '-', '-', '-', '-'];
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  const date = (ms: number): string => new Date(ms).toISOString().replace('.000', '');
  return [type, String(from <= now && now < to), certificate.serialNumber.toLowerCase(), date(to), date(from)];
}

function certificateIn(source: Json | undefined): X509Certificate | undefined {
  if (!isObject(source)) return undefined;
  const { inlineBytes, inlineString } = source;
  try {
    if (typeof inlineString === 'string') return new X509Certificate(inlineString);
    return typeof inlineBytes === 'string' ? new X509Certificate(Buffer.from(inlineBytes, 'base64')) : undefined;
  } catch {
    return undefined;
  }
}

export function bootstrapCommand(): Command {
  return new Command('bootstrap')
    .alias('b')
    .description('the bootstrap of an Envoy')
    .argument('[proxy]', 'for the message alone: --envoy says whose')
    .option(...ENVOY_FLAG)
    .option('-o, --output <format>', 'json or yaml', 'json')
    .action(async (_: string | undefined, { envoy, output }: Flags) => {
      const format = parseFormat(output);
      if (format === 'table') throw new CliError('-o table: expected json or yaml', EXIT.misuse);
      if (envoy === undefined) throw new CliError(`the bootstrap: ${ONLY_ENVOY}`, EXIT.misuse);
      const { bootstrap } = await askEnvoy(envoy);
      if (bootstrap === undefined) throw new CliError(`${envoy} shows no bootstrap`);
      printData(bootstrap, format);
    });
}

export function logCommand(): Command {
  return new Command('log')
    .description('the log levels of an Envoy, and changing them')
    .argument('[proxy]', 'for the message alone: --envoy says whose')
    .option(...ENVOY_FLAG)
    .option('--level <level>', 'set all loggers (debug) or some (http:debug,rbac:trace)')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (_: string | undefined, { envoy, level, output }: Flags) => {
      const format = parseFormat(output);
      if (envoy === undefined) throw new CliError(`the log levels: ${ONLY_ENVOY}`, EXIT.misuse);
      const text = await envoyLogLevels(envoy, level);
      if (format === 'table') print(text);
      else printData(levelsIn(text), format);
    });
}

/** Logger → level, from lines of the form `  admin: warning`. */
function levelsIn(text: string): Readonly<Record<string, string>> {
  const found = [...text.matchAll(/^[ \t]+([\w.-]+): *(\w+)[ \t\r]*$/gm)];
  return Object.fromEntries(found.map(([, logger = '', level = '']) => [logger, level]));
}
