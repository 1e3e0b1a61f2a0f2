// Identity as the control plane starts it, in two steps: its sources before there is a world, then what the xDS server
// asks for, the secure port, and the end of all.

import type { Adapter } from '../adapters/adapter.ts';
import { connectCalls } from '../adapters/kube/calls.ts';
import type { Metrics } from '../admin/metrics.ts';
import { VERSION } from '../admin/version.ts';
import type { Unrecorded } from '../core/event.ts';
import { featureOf } from '../core/mesh/features.ts';
import { AUTHORITY_NAME, REGISTRATION_NAME, SERVING_NAME } from '../core/select/proxy/proxy-capabilities.ts';
import type { State } from '../core/state.ts';
import { jwtRuleOf } from '../identity/authenticate/oidc.ts';
import { OIDC_ISSUER } from '../identity/authenticate/ways.ts';
import type { ClusterCall } from '../identity/cluster-call.ts';
import { servingSigner } from '../identity/registration-source.ts';
import { AccessAdapter } from '../identity/sources/access-adapter.ts';
import { AuthorityAdapter } from '../identity/sources/authority-adapter.ts';
import { BundleAdapter } from '../identity/sources/bundle-adapter.ts';
import {
  clusterIssuer,
  fileIssuer,
  type Issuer,
  IssuerAdapter,
  providerIssuer,
} from '../identity/sources/issuer-adapter.ts';
import type { Engine } from '../xds/engine/engine.ts';
import type { XdsServer, XdsServerOptions } from '../xds/grpc/server.ts';
import type { Clock } from './clock.ts';
import { Identity, type IdentityParts } from './identity.ts';
import { measureAuthority } from './identity-metrics.ts';
import type { IdentityOptions } from './identity-options.ts';
import type { Log } from './log.ts';
import { rootsBehind } from './roots-accepted.ts';
import { type OpenedPort, openSecurePort } from './secure-port.ts';
import type { Address, ServeOptions } from './serve-options.ts';
import { StartFault } from './start-fault.ts';
import type { World } from './world.ts';

export interface OpenedIdentity {
  readonly identity: Identity;
  readonly ofServer: Pick<XdsServerOptions, 'authenticate' | 'methods' | 'keyOf'>;
  listen(address: Address, xds: XdsServer): Promise<OpenedPort>;
}

export interface PreparedIdentity {
  /** Beside those of the configuration. */
  readonly adapters: readonly Adapter[];
  /** Rejects with a StartFault if the authority cannot be had and that will not change by itself. */
  begin(around: Around): Promise<OpenedIdentity>;
  close(): void;
}

interface Around {
  readonly world: World;
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly ready: () => boolean;
  /** To the API server of a remote cluster; undefined: there is no such cluster. */
  readonly callOf: (cluster: string) => ClusterCall | undefined;
}

/** Undefined: it is not wanted. */
export async function prepareIdentity(
  { identity: options, kube, settings }: Pick<ServeOptions, 'identity' | 'kube' | 'settings'>,
  clock: Clock,
  log: Log,
): Promise<PreparedIdentity | undefined> {
  if (options === undefined) return undefined;
  const cluster = kube === undefined ? undefined : await connected(kube);
  const recorder: { record?: (facts: readonly Unrecorded[]) => Promise<unknown> } = {};
  const record = async (facts: readonly Unrecorded[]): Promise<unknown> => recorder.record?.(facts);
  const lost = (error: unknown): void => log('warn', `an audit fact is lost: ${String(error)}`);
  const { clusterId } = settings;
  const authorities = new AuthorityAdapter({
    cluster: clusterId,
    isAwaited: options.settings.caServer && servingSigner(options.settings) === undefined,
    now: () => clock.now(),
    after: clock.after,
    audit: fact => void record([fact]).catch(lost),
    log,
  });
  const issuers = issuersOf(options, clusterId, cluster?.call);
  const found =
    issuers.length === 0 ? [] : [new IssuerAdapter({ cluster: clusterId, issuers, after: clock.after, log })];
  const asksRights = cluster !== undefined && featureOf(settings, 'PERIPLUS_SECRET_ACCESS') === 'review';
  const access = asksRights
    ? [new AccessAdapter({ cluster: clusterId, call: cluster.call, after: clock.after, log })]
    : [];
  const bundles = options.settings.multiRoot
    ? [new BundleAdapter({ cluster: clusterId, after: clock.after, log })]
    : [];
  let identity: Identity | undefined;
  return {
    adapters: [...found, authorities, ...access, ...bundles],
    begin: async ({ world, engine, metrics, ready, callOf }) => {
      recorder.record = facts => world.record(facts);
      const state = (): State => world.state;
      let xds: XdsServer | undefined;
      const rootsBehindNow: IdentityParts['rootsBehind'] = (roots, certified) =>
        xds === undefined
          ? []
          : rootsBehind({ state: state(), engine, connections: xds.connections() }, roots, certified);
      const parts = {
        ...{ options, clock, log, metrics, ready, state, record, call: cluster?.call, callOf },
        rootsBehind: rootsBehindNow,
      };
      const opened = identityOf(parts);
      identity = opened;
      opened.onAuthority(authority => {
        measureAuthority(metrics.registry, authority, () => clock.now());
        authorities.use(authority, options.settings.externalCa !== '');
      });
      await opened.start();
      authorities.trust(REGISTRATION_NAME, opened.registration?.roots ?? '');
      return {
        identity: opened,
        ofServer: {
          authenticate: peer => opened.entranceOf(peer),
          methods: opened.methods,
          keyOf: fingerprint => authorities.keys.of(fingerprint),
        },
        listen: (address, server) => {
          xds = server;
          return openSecurePort(address, server, opened, parts).then(bound => {
            bound.onCertificate(({ roots, renewAt }) => {
              if (servingSigner(options.settings) !== undefined) authorities.trust(AUTHORITY_NAME, roots);
              // Files are not renewed: they are watched.
              else if (renewAt === undefined) authorities.trust(SERVING_NAME, roots);
            });
            return bound;
          });
        },
      };
    },
    close: () => {
      identity?.stop();
      cluster?.close();
    },
  };
}

function issuersOf(options: IdentityOptions, cluster: string, call: ClusterCall | undefined): readonly Issuer[] {
  const { tokenKeys, tokenCheck, settings } = options;
  const found: Issuer[] = [];
  if (tokenKeys !== undefined) found.push(fileIssuer(cluster, tokenKeys.file, tokenKeys.issuer));
  else if (tokenCheck === 'keys' && call !== undefined) found.push(clusterIssuer(cluster, call));
  if (settings.jwtRule !== '') {
    const { issuer, jwksUri } = meant(() => jwtRuleOf(settings.jwtRule));
    found.push(providerIssuer(OIDC_ISSUER, issuer, jwksUri));
  }
  return found;
}

function identityOf(parts: IdentityParts): Identity {
  return meant(() => new Identity(parts));
}

function meant<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new StartFault(error instanceof Error ? error.message : String(error));
  }
}

async function connected({ kubeconfig, context }: NonNullable<ServeOptions['kube']>): Promise<{
  readonly call: ClusterCall;
  close(): void;
}> {
  try {
    return await connectCalls({ kubeconfig, context, userAgent: `periplus/${VERSION}` });
  } catch (error) {
    throw new StartFault(`identity: ${error instanceof Error ? error.message : String(error)}`);
  }
}
