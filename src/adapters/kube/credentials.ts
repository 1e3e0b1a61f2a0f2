// Which API server, and with which credentials: from a kubeconfig file, a kubeconfig that a Secret holds, or the
// service account of the pod. Headers and TLS options for every request, and the agent that keeps its connections.
//
// Tokens and certificates in files are read again every minute, as they rotate; those of plugins and of OIDC are kept
// until they expire; a refusal by the server drops all of them. No message quotes a credential.

import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import type { Kubeconfig } from '../../core/clusters/kubeconfig.ts';
import { accessInCluster, accessOfFile, accessOfGiven, type ClusterAccess, type Pem } from './access/cluster-access.ts';
import { type ExecCredential, runPlugin } from './access/exec-plugin.ts';
import { basic, OidcToken } from './access/oidc-token.ts';
import { proxyAgent } from './access/proxy-agent.ts';

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
/** How long the content of a file is taken for the current one. */
const FILE_MS = 60_000;

/** Rejects if the file, the context or the environment is invalid. */
export async function loadCredentials({ given, kubeconfig, context }: CredentialOptions): Promise<Credentials> {
  const load = async (): Promise<Access> => {
    if (given !== undefined) return new Access(accessOfGiven(given.kubeconfig));
    if (kubeconfig === undefined || kubeconfig === '') return new Access(accessInCluster());
    return new Access(await accessOfFile(kubeconfig, context));
  };
  let access = await load();
  const agents = new Agents();
  const from = given?.from ?? (kubeconfig || 'the service account of this pod');
  return {
    shown: `${access.cluster.server.origin} (${from})`,
    prepare: async () => {
      const { cluster } = access;
      return { server: cluster.server, options: agents.kept(cluster, await access.options(Date.now())) };
    },
    refused: async () => {
      access = await load();
    },
    close: () => agents.close(),
  };
}

/** One reading of a kubeconfig, with what was made of it so far. */
class Access {
  readonly cluster: ClusterAccess;
  readonly #oidc: OidcToken | undefined;
  readonly #files = new Map<string, { readonly at: number; readonly text: string }>();
  #made: ExecCredential | undefined;
  /** Requests that come together run the plugin once. */
  #running: Promise<ExecCredential> | undefined;

  constructor(cluster: ClusterAccess) {
    this.cluster = cluster;
    this.#oidc = cluster.user.oidc === undefined ? undefined : new OidcToken(cluster.user.oidc);
  }

  /** Without an agent. `now`: ms since the epoch. */
  async options(now: number): Promise<RequestOptions> {
    const { user, ca, skipTlsVerify, tlsServerName } = this.cluster;
    const made = await this.#plugin(now);
    const cert = made?.certificate ?? (await this.#pem(user.certificate, now));
    const key = made?.key ?? (await this.#pem(user.key, now));
    const trusted = await this.#pem(ca, now);
    const authorization = await this.#authorization(made, now);
    return {
      headers: { ...user.actAs, ...(authorization === undefined ? {} : { Authorization: authorization }) },
      ...(trusted === undefined ? {} : { ca: trusted }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(skipTlsVerify ? { rejectUnauthorized: false } : {}),
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    };
  }

  async #authorization(made: ExecCredential | undefined, now: number): Promise<string | undefined> {
    const { tokenFile, token, username, password } = this.cluster.user;
    if (tokenFile !== undefined) return `Bearer ${(await this.#text(tokenFile, now)).trim()}`;
    const bearer = token ?? made?.token ?? (await this.#oidc?.current(now));
    if (bearer !== undefined) return `Bearer ${bearer}`;
    return username === undefined ? undefined : basic(username, password ?? '');
  }

  async #plugin(now: number): Promise<ExecCredential | undefined> {
    const { exec } = this.cluster.user;
    if (exec === undefined || this.#running !== undefined) return this.#running;
    const made = this.#made;
    if (made !== undefined && (made.expiresAt ?? Number.POSITIVE_INFINITY) > now) return made;
    this.#running = runPlugin(exec).finally(() => {
      this.#running = undefined;
    });
    this.#made = await this.#running;
    return this.#made;
  }

  async #pem(pem: Pem | undefined, now: number): Promise<string | undefined> {
    if (pem === undefined) return undefined;
    return 'content' in pem ? pem.content : this.#text(pem.file, now);
  }

  async #text(file: string, now: number): Promise<string> {
    const known = this.#files.get(file);
    if (known !== undefined && now - known.at < FILE_MS) return known.text;
    const text = await readFile(file, 'utf8');
    this.#files.set(file, { at: now, text });
    return text;
  }
}

/** Keeps connections while the TLS identity is the same. */
class Agents {
  #identity = '';
  #agent: HttpAgent | undefined;

  kept({ server, proxy }: ClusterAccess, options: RequestOptions): RequestOptions {
    const { ca, cert, key, servername, rejectUnauthorized } = options;
    const identity = [server.origin, proxy?.href, ca, cert, key, servername, rejectUnauthorized].map(String).join('\n');
    if (this.#agent === undefined || identity !== this.#identity) {
      const isTls = server.protocol === 'https:';
      const common = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, ca, cert, key, servername, rejectUnauthorized };
      // Requests on the old agent finish by themselves.
      if (proxy !== undefined) this.#agent = proxyAgent(proxy, isTls, common);
      else this.#agent = isTls ? new HttpsAgent(common) : new HttpAgent(common);
      this.#identity = identity;
    }
    return { ...options, agent: this.#agent };
  }

  close(): void {
    this.#agent?.destroy();
  }
}
