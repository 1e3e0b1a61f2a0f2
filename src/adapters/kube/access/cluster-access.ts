// What a kubeconfig says about one cluster and one user of it, with paths made absolute. Nothing is opened and no
// program is run here.
//
// Rules as client-go has them: data stands above files, a token file above a token, one way to authenticate a user.
// Source: Kubernetes client-go tools/clientcmd/client_config.go (getUserIdentificationPartialConfig),
// tools/clientcmd/validation.go, tools/clientcmd/overrides.go, rest/config.go (InClusterConfig).

import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { dirname, resolve } from 'node:path';
import { isLeft } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '../../../core/base/json.ts';
import { readYaml } from '../../../core/base/yaml.ts';
import type { Kubeconfig } from '../../../core/clusters/kubeconfig.ts';
import { type ExecPlugin, execPluginOf } from './exec-plugin.ts';

/** PEM: the content, or the file that has it. */
export type Pem = { readonly content: string } | { readonly file: string };

export interface ClusterAccess {
  readonly server: URL;
  readonly ca?: Pem;
  readonly skipTlsVerify: boolean;
  readonly tlsServerName?: string;
  readonly proxy?: URL;
  readonly user: UserAccess;
}

export interface UserAccess {
  readonly certificate?: Pem;
  readonly key?: Pem;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: ExecPlugin;
  /** Settings of the provider `oidc`. */
  readonly oidc?: Readonly<Record<string, string>>;
  /** Impersonate-* headers. */
  readonly actAs: Readonly<Record<string, string | readonly string[]>>;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const PROXIES: readonly string[] = ['http:', 'https:', 'socks5:', 'socks5h:'];

/** Rejects if the file cannot be read or names no usable cluster. `context`: default the current one. */
export async function accessOfFile(path: string, context?: string): Promise<ClusterAccess> {
  const parsed = readYaml(await readFile(path, 'utf8'));
  if (isLeft(parsed)) throw new Error(`${path} is no kubeconfig: ${parsed.left}`);
  const root = isObject(parsed.right) ? parsed.right : {};
  const name = context || textOf(root['current-context']);
  const wanted = memberOf(root, 'contexts', 'context', name);
  const cluster = memberOf(root, 'clusters', 'cluster', textOf(wanted?.cluster));
  if (cluster === undefined || textOf(cluster.server) === '') {
    throw new Error(`the context ${name || '(none)'} names no cluster with a server`);
  }
  const user = memberOf(root, 'users', 'user', textOf(wanted?.user)) ?? {};
  return accessOf(cluster, user, dirname(resolve(path)));
}

/** Of a kubeconfig that was judged before: it names no file and no program. */
export function accessOfGiven({
  server,
  caData,
  skipTlsVerify,
  tlsServerName,
  proxyUrl,
  user,
}: Kubeconfig): ClusterAccess {
  return {
    server: serverOf(server, skipTlsVerify),
    ...(caData === undefined ? {} : { ca: { content: decoded(caData) } }),
    skipTlsVerify,
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(proxyUrl === undefined ? {} : { proxy: proxyOf(proxyUrl) }),
    user: {
      ...(user.certData === undefined ? {} : { certificate: { content: decoded(user.certData) } }),
      ...(user.keyData === undefined ? {} : { key: { content: decoded(user.keyData) } }),
      ...(user.token === undefined ? {} : { token: user.token }),
      ...(user.username === undefined ? {} : { username: user.username, password: user.password ?? '' }),
      ...(user.oidc === undefined ? {} : { oidc: user.oidc }),
      actAs: user.as === undefined ? {} : { 'Impersonate-User': user.as },
    },
  };
}

/** The service account of the pod that this runs in. Throws outside of a cluster. */
export function accessInCluster(env: NodeJS.ProcessEnv = process.env): ClusterAccess {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) {
    throw new Error(
      'this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; give a kubeconfig',
    );
  }
  return {
    server: new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`),
    ca: { file: `${SERVICE_ACCOUNT}/ca.crt` },
    skipTlsVerify: false,
    user: { tokenFile: `${SERVICE_ACCOUNT}/token`, actAs: {} },
  };
}

function accessOf(cluster: JsonObject, user: JsonObject, folder: string): ClusterAccess {
  const skipTlsVerify = cluster['insecure-skip-tls-verify'] === true;
  const ca = pemOf(cluster, 'certificate-authority', folder);
  const tlsServerName = textOf(cluster['tls-server-name']);
  const proxy = textOf(cluster['proxy-url']);
  return {
    server: serverOf(textOf(cluster.server), skipTlsVerify),
    ...(ca === undefined ? {} : { ca }),
    skipTlsVerify,
    ...(tlsServerName === '' ? {} : { tlsServerName }),
    ...(proxy === '' ? {} : { proxy: proxyOf(proxy) }),
    user: userOf(user, cluster, folder),
  };
}

function userOf(user: JsonObject, cluster: JsonObject, folder: string): UserAccess {
  const certificate = pemOf(user, 'client-certificate', folder);
  const key = pemOf(user, 'client-key', folder);
  const tokenFile = textOf(user.tokenFile);
  const exec = isObject(user.exec) ? execPluginOf(user.exec, cluster, folder) : undefined;
  const oidc = oidcOf(user['auth-provider']);
  return {
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
    ...(tokenFile === '' ? {} : { tokenFile: resolve(folder, tokenFile) }),
    ...(textOf(user.token) === '' ? {} : { token: textOf(user.token) }),
    ...(textOf(user.username) === '' ? {} : { username: textOf(user.username), password: textOf(user.password) }),
    ...(exec === undefined ? {} : { exec }),
    ...(oidc === undefined ? {} : { oidc }),
    actAs: actAsOf(user),
  };
}

function oidcOf(provider: Json | undefined): Readonly<Record<string, string>> | undefined {
  if (!isObject(provider)) return undefined;
  const name = textOf(provider.name);
  if (name !== 'oidc') {
    const instead = name === 'gcp' ? '; gke-gcloud-auth-plugin takes its place' : '';
    throw new Error(`auth-provider ${name}: Kubernetes has given it up for plugins (users[].user.exec)${instead}`);
  }
  const config = isObject(provider.config) ? provider.config : {};
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, textOf(value)]));
}

function actAsOf(user: JsonObject): UserAccess['actAs'] {
  const headers: Record<string, string | readonly string[]> = {};
  if (textOf(user.as) !== '') headers['Impersonate-User'] = textOf(user.as);
  if (textOf(user['as-uid']) !== '') headers['Impersonate-Uid'] = textOf(user['as-uid']);
  if (Array.isArray(user['as-groups'])) headers['Impersonate-Group'] = user['as-groups'].map(String);
  const extra = user['as-user-extra'];
  for (const [key, values] of Object.entries(isObject(extra) ? extra : {})) {
    if (Array.isArray(values)) headers[`Impersonate-Extra-${encodeURIComponent(key)}`] = values.map(String);
  }
  return headers;
}

function pemOf(from: JsonObject, name: string, folder: string): Pem | undefined {
  const data = textOf(from[`${name}-data`]);
  if (data !== '') return { content: decoded(data) };
  const file = textOf(from[name]);
  return file === '' ? undefined : { file: resolve(folder, file) };
}

/** Credentials go over TLS, or to a server that the user has declared to be without it. */
function serverOf(text: string, skipTlsVerify: boolean): URL {
  const server = new URL(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);
  if (server.protocol === 'https:' || (server.protocol === 'http:' && skipTlsVerify)) return server;
  throw new Error(`${server.origin}: a server without TLS needs insecure-skip-tls-verify: true`);
}

function proxyOf(text: string): URL {
  const proxy = new URL(text);
  if (PROXIES.includes(proxy.protocol)) return proxy;
  throw new Error(`proxy-url ${proxy.protocol}//…: a proxy speaks http, https or socks5`);
}

function memberOf(root: JsonObject, list: string, member: string, name: string): JsonObject | undefined {
  const items: readonly Json[] = Array.isArray(root[list]) ? root[list] : [];
  const found = items.find(item => isObject(item) && item.name === name);
  return isObject(found) && isObject(found[member]) ? found[member] : undefined;
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
