// The addresses that `periplus serve` listens on, in the order in which istiod opens them: HTTP, monitoring, xDS in the
// clear, xDS over TLS, webhooks. One that cannot be bound ends the start with the name of its flag.

import type { DebugParts } from '../admin/debug-parts.ts';
import { explorer } from '../admin/explorer/mount.ts';
import { type Admits, type HttpServer, type Mount, type Route, serveHttp } from '../admin/http.ts';
import type { InjectorInForce } from '../admission/inject/in-force.ts';
import { PlainPort } from '../xds/grpc/plain-port.ts';
import type { Clock } from './clock.ts';
import { type Log, scoped } from './log.ts';
import type { OpenedIdentity } from './open-identity.ts';
import { type Address, type ServeOptions, showAddress } from './serve-options.ts';
import { StartFault } from './start-fault.ts';
import { openWebhookPort } from './webhook-port.ts';

export interface Ports {
  readonly grpc: number;
  readonly http: number;
  readonly monitoring: number;
  /** Absent: there is no secure port. */
  readonly secureGrpc?: number;
  /** Absent: there are no webhooks. */
  readonly https?: number;
}

export async function openPorts(
  options: ServeOptions,
  parts: DebugParts & { readonly routes: ReadonlyMap<string, Route>; readonly injector: InjectorInForce },
  clock: Clock,
  log: Log,
  closers: (() => Promise<unknown>)[],
  identity: OpenedIdentity | undefined,
): Promise<Ports> {
  const { xds, routes } = parts;
  const { metricsHereOnly = false } = options;
  const failed = (message: string): void => log('warn', message);
  const admits: Admits | undefined = identity && (request => identity.identity.viewerOf(request));
  const open = async (address: ServeOptions['httpAddr']): Promise<HttpServer> => {
    const server = await serveHttp(address, routes, failed, { admits, mount, metricsHereOnly });
    closers.push(() => server.close());
    return server;
  };
  const mount = explorerOf(options, failed, closers);
  const http = await openAtFlag('--httpAddr', options.httpAddr, open);
  const monitoring = await openAtFlag('--monitoringAddr', options.monitoringAddr, open);
  const plain = new PlainPort(xds, { clock, log });
  closers.push(async () => plain.close());
  const grpc = await openAtFlag('--grpcAddr', options.grpcAddr, async ({ host, port }) => plain.listen(host, port));
  const ports = { grpc, http: http.port, monitoring: monitoring.port };
  const secure = options.identity?.secureGrpcAddr;
  if (identity === undefined || secure === undefined) return ports;
  const opened = await openAtFlag('--secureGrpcAddr', secure, address => identity.listen(address, xds));
  closers.push(async () => opened.close());
  const withSecure = { ...ports, secureGrpc: opened.port };
  if (options.httpsAddr === undefined) return withSecure;
  const webhooks = await openAtFlag('--httpsAddr', options.httpsAddr, address =>
    openWebhookPort(address, {
      state: () => parts.world.state,
      injector: parts.injector,
      registry: parts.metrics.registry,
      ready: () => parts.sources.readiness().ready,
      injects: options.injects ?? true,
      minVersion: options.identity?.tls.minVersion ?? 'TLSv1.2',
      log: scoped(log, 'webhooks'),
      secure: opened,
    }),
  );
  closers.push(() => webhooks.close(options.shutdownMs));
  return { ...withSecure, https: webhooks.port };
}

/** It opens the journal for itself, once somebody looks. */
function explorerOf(
  { ui = true, debugPages = true, journal, journalKey: keyFile }: ServeOptions,
  onError: (message: string) => void,
  closers: (() => Promise<unknown>)[],
): Mount | undefined {
  if (!ui || !debugPages) return undefined;
  const opened = explorer({ mode: 'serve', journal, onError, ...(keyFile === undefined ? {} : { keyFile }) });
  closers.push(() => opened.close());
  return opened;
}

function adviceFor(why: string): string {
  if (why.includes('EADDRINUSE')) return '; is another control plane running?';
  return why.includes('EACCES') ? '; ports below 1024 need a privilege that this user does not have' : '';
}

async function openAtFlag<T>(flag: string, address: Address, open: (address: Address) => Promise<T>): Promise<T> {
  try {
    return await open(address);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartFault(`${flag} ${showAddress(address)} cannot be opened (${why})${adviceFor(why)}`);
  }
}
