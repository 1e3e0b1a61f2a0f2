// Which API server, and as whom: everything that kubeconfig files know (certificates, tokens, token files, exec plugins, OIDC, proxies) is
// left to the official client library; requests are our own. It is loaded when it is needed: a mesh of files does without.

import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';

export interface CredentialOptions {
  /** Empty or absent: that of the pod we run in. */
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface Prepared {
  readonly server: URL;
  /** Headers with credentials, TLS options and the agent that keeps connections. */
  readonly options: RequestOptions;
}

export interface Credentials {
  /** For people: the server's address and where the credentials came from. */
  readonly shown: string;
  /** Asked for every request: tokens are renewed by whoever knows how. Rejects with what is wrong. */
  prepare(): Promise<Prepared>;
  /** The credentials were refused: what lies in files is read again. */
  refused(): Promise<void>;
  close(): void;
}

/** TCP probes on idle connections, so that the death of a peer is noticed below HTTP too. */
const KEEP_ALIVE_MS = 30_000;

/** Rejects with what is wrong with the file, the context or the environment. */
export async function loadCredentials({ kubeconfig, context }: CredentialOptions): Promise<Credentials> {
  const { KubeConfig: Config } = await import('@kubernetes/client-node');
  const load = (): KubeConfig => {
    const config = new Config();
    if (kubeconfig === undefined || kubeconfig === '') config.loadFromCluster();
    else config.loadFromFile(kubeconfig);
    if (context !== undefined && context !== '') config.setCurrentContext(context);
    serverOf(config);
    return config;
  };
  let config = load();
  const agents = new Agents();
  return {
    shown: `${serverOf(config).origin} (${kubeconfig || 'the service account of this pod'})`,
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

function serverOf(config: KubeConfig): URL {
  const server = config.getCurrentCluster()?.server;
  if (server === undefined || server === '') {
    throw new Error(`the context ${config.getCurrentContext() || '(none)'} names no cluster with a server`);
  }
  return new URL(server);
}

/** The library makes an agent for each request; ours keeps its connections as long as the TLS identity stays the same. */
class Agents {
  #identity = '';
  #agent: HttpAgent | HttpsAgent | undefined;

  kept(options: RequestOptions, proxy: string | undefined): RequestOptions {
    // An agent that goes through a proxy is the library's own.
    if (proxy !== undefined && proxy !== '') return options;
    const { ca, cert, key, servername, rejectUnauthorized, passphrase } = options;
    const identity = [ca, cert, key, servername, rejectUnauthorized, passphrase].map(String).join('\n');
    if (this.#agent === undefined || identity !== this.#identity) {
      const plain = options.agent instanceof HttpAgent && !(options.agent instanceof HttpsAgent);
      const common = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS };
      // What is under way on the old agent ends by itself.
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
