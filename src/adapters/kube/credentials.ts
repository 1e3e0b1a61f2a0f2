// Which API server, and with which credentials. Everything in kubeconfig files (certificates, tokens, token files, exec
// plugins, OIDC, proxies) is left to the official client library; requests are our own. The library is loaded on first
// use: a mesh of files does not need it.

import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Kubeconfig } from '../../core/clusters/kubeconfig.ts';

export interface CredentialOptions {
  /** A checked kubeconfig in place of a file; `from` names where it comes from. */
  readonly given?: { readonly kubeconfig: Kubeconfig; readonly from: string };
  /** Empty or absent: the service account of the pod. */
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface Prepared {
  readonly server: URL;
  /** Headers with credentials, TLS options, and the agent that pools connections. */
  readonly options: RequestOptions;
}

export interface Credentials {
  /** For messages: the server's address and the source of the credentials. */
  readonly shown: string;
  /** Call it for every request, as tokens are renewed. Rejects if there are no credentials. */
  prepare(): Promise<Prepared>;
  /** The credentials were refused: read files again. */
  refused(): Promise<void>;
  close(): void;
}

/** TCP keepalive on idle connections, to notice a dead peer below HTTP. */
const KEEP_ALIVE_MS = 30_000;

/** Rejects if the file, the context or the environment is invalid. */
export async function loadCredentials({ given, kubeconfig, context }: CredentialOptions): Promise<Credentials> {
  const { KubeConfig: Config } = await import('@kubernetes/client-node');
  const load = (): KubeConfig => {
    const config = new Config();
    if (given !== undefined) config.loadFromOptions(optionsOf(given.kubeconfig));
    else if (kubeconfig === undefined || kubeconfig === '') config.loadFromCluster();
    else config.loadFromFile(kubeconfig);
    if (context !== undefined && context !== '') config.setCurrentContext(context);
    serverOf(config);
    return config;
  };
  let config = load();
  const agents = new Agents();
  const from = given?.from ?? (kubeconfig || 'the service account of this pod');
  return {
    shown: `${serverOf(config).origin} (${from})`,
    prepare: async () => {
      const options: RequestOptions = { headers: {} };
      await config.applyToHTTPSOptions(options as Parameters<KubeConfig['applyToHTTPSOptions']>[0]);
      return { server: serverOf(config), options: agents.kept(options, config.getCurrentCluster()?.proxyUrl) };
    },
    refused: async () => {
      config = load();
    },
    close: () => agents.close(),
  };
}

/** Of one cluster, one user and one context. */
function optionsOf({ server, caData, skipTlsVerify, tlsServerName, proxyUrl, user }: Kubeconfig) {
  const { oidc, as: impersonateUser, ...plain } = user;
  const name = 'remote';
  return {
    clusters: [{ name, server, caData, skipTLSVerify: skipTlsVerify, tlsServerName, proxyUrl }],
    users: [{ name, ...plain, impersonateUser, authProvider: oidc && { name: 'oidc', config: { ...oidc } } }],
    contexts: [{ name, cluster: name, user: name }],
    currentContext: name,
  };
}

function serverOf(config: KubeConfig): URL {
  const server = config.getCurrentCluster()?.server;
  if (server === undefined || server === '') {
    throw new Error(`the context ${config.getCurrentContext() || '(none)'} names no cluster with a server`);
  }
  return new URL(server);
}

/** The library makes an agent for each request; ours keeps its connections while the TLS identity is the same. */
class Agents {
  #identity = '';
  #agent: HttpAgent | HttpsAgent | undefined;

  kept(options: RequestOptions, proxy: string | undefined): RequestOptions {
    // For a proxy the library's own agent is used.
    if (proxy !== undefined && proxy !== '') return options;
    const { ca, cert, key, servername, rejectUnauthorized, passphrase } = options;
    const identity = [ca, cert, key, servername, rejectUnauthorized, passphrase].map(String).join('\n');
    if (this.#agent === undefined || identity !== this.#identity) {
      const plain = options.agent instanceof HttpAgent && !(options.agent instanceof HttpsAgent);
      const common = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS };
      // Requests on the old agent finish by themselves.
      this.#agent = plain
        ? new HttpAgent(common)
        : new HttpsAgent({ ...common, ca, cert, key, servername, rejectUnauthorized, passphrase });
      this.#identity = identity;
    }
    return { ...options, agent: this.#agent };
  }

  close(): void {
    this.#agent?.destroy();
  }
}
