// Outbound listeners of a sidecar: makes the filter chains of each plan, then the listener around them; and the
// listener of the HTTP proxy port.
// Source: Istio pilot/pkg/networking/core/listener.go (buildSidecarOutboundListeners, buildHTTPProxy).

import { blocksOf } from '../../../core/base/groups.ts';
import { compareText } from '../../../core/model/object.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader, Query, Selection } from '../../../core/query/reader.ts';
import type { Duration } from '../../../core/schema/duration.ts';
import { extensionPort, extensionPorts } from '../../../core/select/extension/chain-extensions.ts';
import { plainHttp } from '../../../core/select/listener/alpn.ts';
import { httpProxyPort } from '../../../core/select/listener/http-proxy.ts';
import { listenerName, localhosts } from '../../../core/select/listener/listener-addresses.ts';
import {
  protocolDetectionTimeout,
  type SocketSettings,
  socketSettings,
  transportConnectTimeoutMs,
} from '../../../core/select/listener/listener-settings.ts';
import type { ChainPlan, HttpChainPlan, TcpChainPlan } from '../../../core/select/listener/outbound-chains.ts';
import { type OutboundListenerPlan, rangesOf, takesAll } from '../../../core/select/listener/outbound-entries.ts';
import { outboundListenerPlans } from '../../../core/select/listener/outbound-listeners.ts';
import { scopeService } from '../../../core/select/scope/sidecar-scope.ts';
import { isMatchAll, outboundChain, outboundListener } from '../../generate/listener/outbound-listeners.ts';
import type { AccessLog, Filter, FilterChain, Listener } from '../../proto/types.gen.ts';
import { accessLogsOf } from './access-log.ts';
import { extensionsBeforeHttp } from './extension-filters.ts';
import { networkFilters, terminalFilters } from './filters.ts';
import { httpConnectionManager } from './http-connection-manager.ts';
import { fallthroughFilters } from './virtual-outbound.ts';

/** Sorted by name, except that the HTTP proxy listener comes last. */
export const outboundListeners: Query<'', readonly Resource<Listener>[]> = {
  name: 'listener/outboundListeners',
  run: reader => {
    const shared = sharedParts(reader);
    const plans = reader.get(outboundListenerPlans, '');
    const listeners =
      plans.length > LISTENERS_ALONE_MAX
        ? blocksOf(plans, LISTENERS_TOGETHER).flatMap(block => reader.select(outboundBlock, { plans: block }))
        : plans.map(plan => outbound(reader, shared, plan));
    const proxy = httpProxyListener(reader, shared);
    return proxy === undefined ? listeners : [...listeners, proxy];
  },
};

/** More listeners are made in blocks, so that those which are made stay made when the work is interrupted. */
const LISTENERS_ALONE_MAX = 1_000;
const LISTENERS_TOGETHER = 64;

const outboundBlock: Selection<{ readonly plans: readonly OutboundListenerPlan[] }, readonly Resource<Listener>[]> = {
  name: 'listener/outboundBlock',
  run: (reader, { plans }) => {
    const shared = sharedParts(reader);
    return plans.map(plan => outbound(reader, shared, plan));
  },
};

/** Inputs that all outbound listeners of the proxy share, read once because there can be thousands of listeners. */
interface SharedParts {
  readonly filtersOf: (port: number) => PortFilters;
  readonly fallthrough: readonly Filter[];
  readonly tcpLog: readonly AccessLog[];
  readonly plainHttp: readonly string[];
  readonly connectTimeoutMs: number;
  readonly detection: Duration | string | undefined;
  readonly socket: SocketSettings;
}

function sharedParts(reader: ProxyReader): SharedParts {
  return {
    filtersOf: filtersByPort(reader),
    fallthrough: fallthroughFilters(reader),
    tcpLog: reader.get(accessLogsOf, 'outbound').tcp,
    plainHttp: plainHttp(reader),
    connectTimeoutMs: transportConnectTimeoutMs(reader),
    detection: protocolDetectionTimeout(reader),
    socket: socketSettings(reader, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
  };
}

/** What precedes the terminal filters of the chains of a port. */
interface PortFilters {
  /** Stands for all ports that no extension names. */
  readonly extensionPort: number;
  readonly tcp: readonly Filter[];
  readonly beforeHttp: readonly Filter[];
}

function filtersByPort(reader: ProxyReader): (port: number) => PortFilters {
  const made = new Map<number, PortFilters>();
  const named = reader.get(extensionPorts, '');
  return port => {
    const at = extensionPort(named, port);
    const known = made.get(at);
    if (known !== undefined) return known;
    const traits = { traffic: 'outbound', exchange: false, policiesBeside: undefined, extensionPort: at } as const;
    const beforeHttp = extensionsBeforeHttp(reader, 'outbound', at);
    const fresh = { extensionPort: at, tcp: networkFilters(reader, traits), beforeHttp };
    made.set(at, fresh);
    return fresh;
  };
}

function outbound(reader: ProxyReader, shared: SharedParts, plan: OutboundListenerPlan): Resource<Listener> {
  const [bind, ...moreBinds] = plan.binds;
  const chains = plan.chains.map(chain =>
    chain.kind === 'http' ? httpChain(reader, shared, plan, chain) : tcpChain(reader, shared, plan, chain),
  );
  return reader.make(outboundListener, {
    bind,
    moreBinds,
    port: plan.port,
    bindToPort: plan.bindToPort,
    chains,
    fallthrough: chains.some(isMatchAll) ? undefined : shared.fallthrough,
    inspectsTls: plan.chains.some(looksAtSni),
    detection: shared.detection,
    conflicts: plan.conflicts,
    ...shared.socket,
  });
}

/** An SNI host `*` narrows no chain, but needs the TLS inspector as others do. */
function looksAtSni(chain: ChainPlan): boolean {
  return chain.kind === 'tcp' && (chain.dynamicHost !== '' || chain.serverNames.length > 0);
}

function httpChain(
  reader: ProxyReader,
  shared: SharedParts,
  plan: OutboundListenerPlan,
  chain: HttpChainPlan,
): FilterChain {
  const { beforeHttp, extensionPort } = shared.filtersOf(plan.servicePort.port);
  const hcm = httpConnectionManager(reader, {
    traffic: 'outbound',
    grpcWeb: chain.protocol === 'GRPC-Web',
    dynamicForwardProxy: chain.dynamicHost,
    httpProxy: false,
    statPrefix: `outbound_${listenerName(plan.binds[0], plan.port)};`,
    routes: chain.routeName,
    http2: false,
    extensionPort,
  });
  return reader.make(outboundChain, {
    matchesAll: !chain.sniffed,
    serverNames: [],
    ranges: [],
    alpn: chain.sniffed ? shared.plainHttp : undefined,
    filters: [...beforeHttp, hcm],
    connectTimeoutMs: shared.connectTimeoutMs,
    configNamespace: '',
    configName: '',
  });
}

function tcpChain(
  reader: ProxyReader,
  shared: SharedParts,
  plan: OutboundListenerPlan,
  chain: TcpChainPlan,
): FilterChain {
  const traits = { protocol: chain.protocol, dynamicHost: chain.dynamicHost, dynamicPort: plan.port };
  const { tcp, extensionPort } = shared.filtersOf(plan.port);
  const first = chain.dynamicHost === '' ? tcp : guardedFilters(reader, chain.dynamicHost, extensionPort);
  return reader.make(outboundChain, {
    matchesAll: takesAll(chain),
    serverNames: chain.serverNames.includes('*') ? [] : [...chain.serverNames].sort(compareText),
    ranges: rangesOf(chain),
    alpn: undefined,
    filters: [...first, ...terminalFilters(reader, chain.route, traits, shared.tcpLog)],
    connectTimeoutMs: shared.connectTimeoutMs,
    configNamespace: chain.config?.namespace ?? '',
    configName: chain.config?.name ?? '',
  });
}

/**
 * Policies that apply to the workload, and those of the service's namespace, decide about its own TLS connections to a
 * DYNAMIC_DNS host, as in istiod (buildCompleteNetworkFilters).
 */
function guardedFilters(reader: ProxyReader, host: string, extensionPort: number): readonly Filter[] {
  const policiesBeside = reader.get(scopeService, host)?.namespace ?? '';
  return networkFilters(reader, { traffic: 'outbound', exchange: false, policiesBeside, extensionPort });
}

function httpProxyListener(reader: ProxyReader, shared: SharedParts): Resource<Listener> | undefined {
  const port = httpProxyPort(reader);
  if (port === 0) return undefined;
  const [bind, ...moreBinds] = localhosts(reader);
  const { beforeHttp, extensionPort } = shared.filtersOf(port);
  const hcm = httpConnectionManager(reader, {
    traffic: 'outbound',
    grpcWeb: false,
    dynamicForwardProxy: '',
    httpProxy: true,
    statPrefix: `outbound_${listenerName(bind, port)};`,
    routes: 'http_proxy',
    http2: false,
    extensionPort,
  });
  const chain = reader.make(outboundChain, {
    matchesAll: true,
    serverNames: [],
    ranges: [],
    alpn: undefined,
    filters: [...beforeHttp, hcm],
    connectTimeoutMs: shared.connectTimeoutMs,
    configNamespace: '',
    configName: '',
  });
  return reader.make(outboundListener, {
    bind,
    moreBinds,
    port,
    bindToPort: true,
    chains: [chain],
    fallthrough: undefined,
    inspectsTls: false,
    detection: undefined,
    conflicts: [],
    ...shared.socket,
  });
}
