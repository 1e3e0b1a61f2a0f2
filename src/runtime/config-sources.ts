// Other control planes as sources of configuration: `configSources` of the mesh configuration with addresses
// `xds://HOST:PORT`, read once at the start, as istiod does (pilot/pkg/bootstrap/configcontroller.go,
// initConfigSources). `fs://` and `k8s://` are flags here. Where istiod would silently send plain text, the start fails
// with the reason.

import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { PeerCertificate } from 'node:tls';
import { type ChannelCredentials, type ChannelOptions, credentials } from '@grpc/grpc-js';
import type { Adapter } from '../adapters/adapter.ts';
import { McpAdapter } from '../adapters/mcp/mcp-adapter.ts';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { readYaml } from '../core/base/yaml.ts';
import type { Settings } from '../core/mesh/settings.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { StartFault } from './start-fault.ts';

const SCHEME = 'xds://';
const ADDRESS = /^(\[[0-9a-f:.]+\]|[^:/\s]+):\d+$/i;
const RANDOM_MAX = 2 ** 47;

export interface XdsSource {
  /** `host:port` */
  readonly address: string;
  readonly tls: JsonObject | undefined;
}

/** The adapters of all `xds://` sources of the mesh file. Throws a StartFault for one that cannot be used. */
export function openConfigSources(
  meshConfig: string | undefined,
  settings: Settings,
  clock: Clock,
  log: Log,
): readonly Adapter[] {
  const { sources, others } = xdsSourcesIn(textOf(meshConfig));
  if (others.length > 0) log('warn', `configSources: ${others.join(', ')} ignored: files and clusters have flags`);
  return sources.map(configSourceOpener(settings, clock, log));
}

/** Makes the adapter of a source; throws a StartFault if it cannot be used. */
export function configSourceOpener(settings: Settings, clock: Clock, log: Log): (source: XdsSource) => Adapter {
  const chance = {
    now: () => clock.now(),
    after: clock.after,
    random: () => randomInt(RANDOM_MAX) / RANDOM_MAX,
  };
  return ({ address, tls }) => {
    if (!ADDRESS.test(address)) throw new StartFault(`configSources: xds://${address}: expected xds://HOST:PORT`);
    const { channel, secured } = credentialsOf(address, tls);
    return new McpAdapter({
      address,
      credentials: secured,
      channel,
      namespace: settings.systemNamespace,
      podName: process.env.POD_NAME ?? 'periplus',
      revision: settings.revision,
      chance,
      log,
    });
  };
}

/** A file that is not there, or no YAML, has none; its mistakes are reported when it is folded. */
export function xdsSourcesIn(text: string): {
  readonly sources: readonly XdsSource[];
  readonly others: readonly string[];
} {
  const read = readYaml(text);
  const mesh = read._tag === 'Right' ? read.right : {};
  return xdsSourcesOf(
    isObject(mesh) && Array.isArray(mesh.configSources) ? (mesh.configSources as readonly Json[]) : [],
  );
}

/** Of the decoded list. */
export function xdsSourcesOf(listed: readonly Json[]): {
  readonly sources: readonly XdsSource[];
  readonly others: readonly string[];
} {
  const sources: XdsSource[] = [];
  const others: string[] = [];
  for (const one of listed) {
    if (!isObject(one) || typeof one.address !== 'string') continue;
    if (!one.address.startsWith(SCHEME)) {
      others.push(one.address);
      continue;
    }
    const address = one.address.slice(SCHEME.length).replace(/\/$/, '');
    sources.push({ address, tls: isObject(one.tlsSettings) ? one.tlsSettings : undefined });
  }
  return { sources, others };
}

function textOf(path: string | undefined): string {
  if (path === undefined) return '';
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const MODES: readonly string[] = ['SIMPLE', 'MUTUAL'];

/** As ClientTLSSettings mean it: `caCertificates` is the PEM itself, as istiod takes it, or the path of a file. */
export function credentialsOf(
  address: string,
  tls: JsonObject | undefined,
): { readonly secured: ChannelCredentials; readonly channel: ChannelOptions } {
  const mode = String(tls?.mode ?? 'DISABLE');
  if (tls === undefined || mode === 'DISABLE') return { secured: credentials.createInsecure(), channel: {} };
  const refuse = (why: string): never => {
    throw new StartFault(`configSources: xds://${address}: ${why}`);
  };
  if (!MODES.includes(mode)) refuse(`tlsSettings.mode ${mode} is not supported; expected DISABLE, SIMPLE or MUTUAL`);
  for (const field of ['credentialName', 'caCrl']) {
    if (tls[field]) refuse(`tlsSettings.${field} is not supported; give files`);
  }
  const pem = (field: string): Buffer | null => {
    const given = tls[field];
    if (typeof given !== 'string' || given === '') return null;
    if (given.includes('-----BEGIN')) return Buffer.from(given);
    try {
      return readFileSync(given);
    } catch (error) {
      return refuse(`tlsSettings.${field}: ${given} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  };
  const [certificate, key] = mode === 'MUTUAL' ? [pem('clientCertificate'), pem('privateKey')] : [null, null];
  if (mode === 'MUTUAL' && (certificate === null || key === null)) {
    refuse('tlsSettings.mode MUTUAL needs clientCertificate and privateKey');
  }
  const names = Array.isArray(tls.subjectAltNames) ? (tls.subjectAltNames as readonly Json[]).map(String) : [];
  const verify = {
    rejectUnauthorized: tls.insecureSkipVerify !== true,
    ...(names.length === 0 ? {} : { checkServerIdentity: (_: string, peer: PeerCertificate) => mismatch(names, peer) }),
  };
  const sni = typeof tls.sni === 'string' && tls.sni !== '' ? tls.sni : undefined;
  const channel = sni === undefined ? {} : { 'grpc.ssl_target_name_override': sni, 'grpc.default_authority': sni };
  return { secured: credentials.createSsl(pem('caCertificates'), key, certificate, verify), channel };
}

/** Undefined: one of the certificate's names is expected. */
function mismatch(expected: readonly string[], peer: PeerCertificate): Error | undefined {
  const names = (peer.subjectaltname ?? '').split(', ').map(name => name.replace(/^(DNS|URI|IP Address):/, ''));
  if (names.some(name => expected.includes(name))) return undefined;
  return new Error(`the certificate is of ${names.join(', ')}, not of ${expected.join(', ')}`);
}
