// Where a proxy gets the code of a Wasm module from.
//
// A proxy with an agent is sent the URL as written: the agent fetches the module and hands Envoy a file. Without an
// agent Envoy itself fetches a module over HTTP if its digest is known, while the listener warms, from a cluster that
// is generated for the server of the module. Everything else it cannot fetch, and it gets what an agent gives after a
// failed fetch: a filter that passes or denies all traffic, by the module's `failStrategy`.
// Source: Istio pilot/pkg/model/extensions.go (buildDataSource), pkg/wasm/convert.go.

import type { ProxyReader, Query } from '../../query/reader.ts';
import { type GoUrl, parseUrl, urlText } from '../../schema/go-url.ts';
import type { WasmConfig } from '../../schema/istio-types.gen.ts';
import { subjectsOf } from '../ambient/subjects.ts';
import { istioFilters } from '../proxy/proxy-capabilities.ts';
import { extensionsOfProxy } from './extensions.ts';

export type ModuleCode =
  | { readonly kind: 'file'; readonly path: string }
  | {
      readonly kind: 'remote';
      readonly uri: string;
      readonly cluster: string;
      readonly sha256: string;
      /** Envoy fetches it itself. */
      readonly direct: boolean;
    }
  /** The proxy cannot have it. */
  | { readonly kind: 'unavailable' };

/** A server that Envoy fetches modules from. */
export interface ModuleServer {
  readonly cluster: string;
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
}

/** Stands for the server of a module, as the agent replaces it. */
const AGENT_CLUSTER = '_';
const FILE_SCHEME = 'file://';
const SHA256 = /^[a-f0-9]{64}$/;
const PORTS: Readonly<Partial<Record<string, number>>> = { http: 80, https: 443 };

export function moduleCode(reader: ProxyReader, network: boolean, { url = '', sha256 = '' }: WasmConfig): ModuleCode {
  const parsed = parseUrl(url);
  const uri = urlText(url, 'oci');
  if (parsed === undefined || uri === undefined || !runsModules(reader, network)) return { kind: 'unavailable' };
  if (parsed.scheme === 'file') {
    return { kind: 'file', path: url.startsWith(FILE_SCHEME) ? url.slice(FILE_SCHEME.length) : url };
  }
  if (hasAgent(reader)) return { kind: 'remote', uri, cluster: AGENT_CLUSTER, sha256, direct: false };
  const server = SHA256.test(sha256) ? serverOf(parsed) : undefined;
  return server === undefined
    ? { kind: 'unavailable' }
    : { kind: 'remote', uri, cluster: server.cluster, sha256, direct: true };
}

/** The proxy has an agent, which fetches modules. */
export function hasAgent(reader: ProxyReader): boolean {
  return istioFilters(reader);
}

/** The Wasm filter and the engine for its modules are compiled into the proxy. */
function runsModules(reader: ProxyReader, network: boolean): boolean {
  return reader.hasExtension(`envoy.filters.${network ? 'network' : 'http'}.wasm`) && reader.hasExtension(ENGINE);
}

export const ENGINE = 'envoy.wasm.runtime.v8';

/** The servers that Envoy itself fetches modules of the proxy's extensions from, each once; none with an agent. */
export const moduleServers: Query<'', readonly ModuleServer[]> = {
  name: 'select/moduleServers',
  run: reader => {
    if (hasAgent(reader)) return [];
    const servers = new Map<string, ModuleServer>();
    for (const { code } of subjectsOf(reader).flatMap(subject => reader.get(extensionsOfProxy, subject))) {
      if (code.kind !== 'wasm' || moduleCode(reader, code.network, code.config).kind !== 'remote') continue;
      const server = serverOf(parseUrl(code.config.url ?? ''));
      if (server !== undefined) servers.set(server.cluster, server);
    }
    return [...servers.values()];
  },
};

/** Undefined: not fetched over HTTP. */
function serverOf(url: GoUrl | undefined): ModuleServer | undefined {
  const usual = url === undefined ? undefined : PORTS[url.scheme];
  if (url === undefined || usual === undefined || url.hostname === '') return undefined;
  const port = url.port === '' ? usual : Number(url.port);
  if (port < 1 || port > 65_535) return undefined;
  return {
    cluster: `wasm-modules|${url.scheme}|${url.hostname}|${port}`,
    tls: url.scheme === 'https',
    host: url.hostname,
    port,
  };
}
