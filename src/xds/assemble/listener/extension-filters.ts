// The filters of the extensions of a chain: one query a kind, class of traffic and port that an extension names, so
// that all such chains share them.

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import {
  type ByPhase,
  chainExtensions,
  type ExtensionChain,
  extensionPort,
  extensionPorts,
} from '../../../core/select/extension/chain-extensions.ts';
import { moduleConfig } from '../../../core/select/extension/extension-config.ts';
import { type Extension, filterNameOf } from '../../../core/select/extension/extensions.ts';
import { hasAgent } from '../../../core/select/extension/wasm-module.ts';
import type { TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
import { extensionConfig } from '../../generate/extension/extension-config.ts';
import { luaFilter, moduleFilter, moduleInPlace } from '../../generate/listener/extension-filters.ts';
import type { Filter, HttpFilter } from '../../proto/types.gen.ts';

/** `port`: as `portOfExtensions` gives it, here and below. */
export function httpExtensions(reader: ProxyReader, traffic: TrafficClass, port: number): ByPhase<HttpFilter> {
  return reader.get(extensionFilters, { kind: 'http', traffic, port });
}

export function networkExtensions(reader: ProxyReader, traffic: TrafficClass, port: number): ByPhase<Filter> {
  return reader.get(extensionFilters, { kind: 'network', traffic, port });
}

/** 0 unless an extension of the proxy names the port. */
export function portOfExtensions(reader: ProxyReader, port: number): number {
  return extensionPort(reader.get(extensionPorts, ''), port);
}

export const NO_EXTENSIONS: ByPhase<never> = { AUTHN: [], AUTHZ: [], STATS: [], UNSPECIFIED: [] };

/** In front of an HTTP connection manager all phases stand in a row. */
export function extensionsBeforeHttp(reader: ProxyReader, traffic: TrafficClass, port: number): readonly Filter[] {
  const { AUTHN, AUTHZ, STATS, UNSPECIFIED } = networkExtensions(reader, traffic, port);
  return [...AUTHN, ...AUTHZ, ...STATS, ...UNSPECIFIED];
}

const extensionFilters: Query<ExtensionChain, ByPhase<Filter & HttpFilter>> = {
  name: 'listener/extensionFilters',
  key: ({ kind, traffic, port }) => `${kind}|${traffic}|${port}`,
  run: (reader, chain) => {
    const found = reader.get(chainExtensions, chain);
    const filters = (extensions: readonly Extension[]): readonly (Filter & HttpFilter)[] =>
      extensions.map(extension => filterOf(reader, extension));
    return {
      AUTHN: filters(found.AUTHN),
      AUTHZ: filters(found.AUTHZ),
      STATS: filters(found.STATS),
      UNSPECIFIED: filters(found.UNSPECIFIED),
    };
  },
};

function filterOf(reader: ProxyReader, extension: Extension): Filter & HttpFilter {
  const name = filterNameOf(extension);
  const { code } = extension;
  if (code.kind === 'lua') return reader.make(luaFilter, { name, source: code.source });
  if (hasAgent(reader)) return reader.make(moduleFilter, { name, network: code.network });
  const config = reader.make(extensionConfig, moduleConfig(reader, extension, code));
  return reader.make(moduleInPlace, { config });
}
