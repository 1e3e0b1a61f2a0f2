// The kubeconfig of a remote cluster, judged before anything is done with it: a Secret or file may name a server and
// hold credentials, but make the control plane run no program and read no file.
//
// What passes is rebuilt from a fixed list of fields, so that nothing unknown reaches a client library. Problems never
// quote a value.
// Source: Istio pkg/kube/util.go (NewUntrustedRestConfig, sanitizeKubeConfig); Kubernetes client-go
// tools/clientcmd/validation.go.

import { type Either, isLeft, left, right } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { trimmedEnd } from '../base/trim.ts';
import { readYaml } from '../base/yaml.ts';

/** How a cluster is reached, and as whom. Every text is the content itself, no path. */
export interface Kubeconfig {
  /** https, without a trailing slash. */
  readonly server: string;
  /** PEM in base64. */
  readonly caData?: string;
  readonly skipTlsVerify: boolean;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  readonly user: KubeconfigUser;
}

export interface KubeconfigUser {
  readonly token?: string;
  /** PEM in base64. */
  readonly certData?: string;
  readonly keyData?: string;
  readonly username?: string;
  readonly password?: string;
  /** The user to act as. */
  readonly as?: string;
  /** The provider `oidc` with its settings. */
  readonly oidc?: Readonly<Record<string, string>>;
}

/** A kubeconfig is a few kilobytes; certificates chains make it some tens. */
export const KUBECONFIG_CHARS_MAX = 1_000_000;

type Result<T> = Either<string, T>;

/** The usable kubeconfig of the current context, or why there is none. */
export function readKubeconfig(text: string): Result<Kubeconfig> {
  if (text.trim() === '') return left('kubeconfig is empty');
  if (text.length > KUBECONFIG_CHARS_MAX) return left(`kubeconfig is longer than ${KUBECONFIG_CHARS_MAX} characters`);
  const parsed = readYaml(text);
  if (isLeft(parsed)) return left(`kubeconfig cannot be loaded: ${parsed.left}`);
  if (!isObject(parsed.right)) return left('kubeconfig cannot be loaded: expected an object');
  const lists = listsOf(parsed.right);
  if (isLeft(lists)) return left(`kubeconfig is not valid: ${lists.left}`);
  const invalid = whyInvalid(lists.right);
  if (invalid !== undefined) return left(`kubeconfig is not valid: ${invalid}`);
  const forbidden = whyForbidden(lists.right);
  if (forbidden !== undefined) return left(`kubeconfig is not allowed: ${forbidden}`);
  return right(rebuilt(lists.right));
}

/**
 * The cluster that a kubeconfig is of: that of the current context, else the first by name; undefined: it names none.
 * Source: Istio pkg/kube/multicluster/kubeconfig_files.go.
 */
export function clusterIdIn(text: string): string | undefined {
  const parsed = readYaml(text);
  if (isLeft(parsed) || !isObject(parsed.right)) return undefined;
  const { 'current-context': current } = parsed.right;
  const contexts = named(parsed.right, 'contexts', 'context');
  const of = isLeft(contexts) ? undefined : textOf(contexts.right.get(textOf(current))?.cluster);
  if (of) return of;
  const clusters = named(parsed.right, 'clusters', 'cluster');
  return isLeft(clusters) ? undefined : [...clusters.right.keys()].sort()[0];
}

type Named = ReadonlyMap<string, JsonObject>;

interface Lists {
  readonly clusters: Named;
  readonly users: Named;
  readonly contexts: Named;
  readonly current: string;
}

function listsOf(root: JsonObject): Result<Lists> {
  const current = root['current-context'];
  if (typeof current !== 'string' || current === '') return left('current-context is missing');
  const clusters = named(root, 'clusters', 'cluster');
  const users = named(root, 'users', 'user');
  const contexts = named(root, 'contexts', 'context');
  for (const list of [clusters, users, contexts]) if (isLeft(list)) return list;
  if (isLeft(clusters) || isLeft(users) || isLeft(contexts)) return left('');
  return right({ clusters: clusters.right, users: users.right, contexts: contexts.right, current });
}

/** The members of a list by name; `null` for a list is none. */
function named(root: JsonObject, list: string, member: string): Result<Named> {
  const items = root[list] ?? [];
  if (!Array.isArray(items)) return left(`${list} is no list`);
  const found = new Map<string, JsonObject>();
  for (const [i, item] of items.entries()) {
    if (!isObject(item) || typeof item.name !== 'string') return left(`${list}[${i}] has no name`);
    const content = item[member] ?? {};
    if (!isObject(content)) return left(`${list}[${i}].${member} is no object`);
    found.set(item.name, content);
  }
  return right(found);
}

const TEXTS: readonly string[] = [
  'as',
  'as-uid',
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'password',
  'token',
  'tokenFile',
  'username',
];

function whyInvalid({ clusters, users, contexts, current }: Lists): string | undefined {
  const context = contexts.get(current);
  if (context === undefined) return 'current-context names no context';
  const cluster = clusters.get(textOf(context.cluster));
  if (cluster === undefined) return 'the current context names no cluster';
  if (!users.has(textOf(context.user))) return 'the current context names no user';
  const server = textOf(cluster.server);
  if (server === '') return 'the cluster has no server';
  const proxy = textOf(cluster['proxy-url']);
  if (proxy !== '' && !/^(https?|socks5):\/\/[^/]/.test(proxy)) return 'proxy-url is no URL';
  for (const [at, user] of [...users.values()].entries()) {
    const wrong = whyInvalidUser(user);
    if (wrong !== undefined) return `users[${at}]: ${wrong}`;
  }
  return undefined;
}

function whyInvalidUser(user: JsonObject): string | undefined {
  const odd = TEXTS.find(name => user[name] !== undefined && user[name] !== null && typeof user[name] !== 'string');
  if (odd !== undefined) return `${odd} is no text`;
  const has = (name: string): boolean => textOf(user[name]) !== '';
  const certificate = has('client-certificate-data') || has('client-certificate');
  const key = has('client-key-data') || has('client-key');
  if (certificate !== key) return 'a client certificate needs its key, and a key its certificate';
  if (has('client-certificate-data') && has('client-certificate')) return 'client-certificate is given twice';
  if (has('client-key-data') && has('client-key')) return 'client-key is given twice';
  if ((has('token') || has('tokenFile')) && (has('username') || has('password'))) {
    return 'a token and a password exclude each other';
  }
  const impersonated = ['as-uid', 'as-groups', 'as-user-extra'].some(name => !isEmpty(user[name]));
  return impersonated && !has('as') ? 'who to act as is given without a user' : undefined;
}

/** Every user is tested, whether or not the current context has it. */
function whyForbidden({ clusters, users, contexts, current }: Lists): string | undefined {
  for (const [at, user] of [...users.values()].entries()) {
    const forbidden = whyForbiddenUser(user);
    if (forbidden !== undefined) return `users[${at}]: ${forbidden}`;
  }
  const cluster = clusters.get(textOf(contexts.get(current)?.cluster)) ?? {};
  if (textOf(cluster['certificate-authority']) !== '') return 'certificate-authority names a file';
  return /^https:\/\/[^/]/.test(textOf(cluster.server)) ? undefined : 'server: credentials are sent over https only';
}

function whyForbiddenUser(user: JsonObject): string | undefined {
  if (!isEmpty(user.exec)) return 'exec would run a program';
  for (const name of ['client-certificate', 'client-key', 'tokenFile', 'token-file']) {
    if (textOf(user[name]) !== '') return `${name} names a file`;
  }
  if (!isEmpty(user['as-groups']) || !isEmpty(user['as-uid']) || !isEmpty(user['as-user-extra'])) {
    return 'of impersonation only `as` is supported';
  }
  const provider = user['auth-provider'];
  if (isEmpty(provider)) return undefined;
  const name = isObject(provider) ? textOf(provider.name) : '';
  return name === 'oidc' ? undefined : 'auth-provider: only oidc is allowed';
}

function rebuilt({ clusters, users, contexts, current }: Lists): Kubeconfig {
  const context = contexts.get(current) ?? {};
  const cluster = clusters.get(textOf(context.cluster)) ?? {};
  const user = users.get(textOf(context.user)) ?? {};
  return {
    server: trimmedEnd(textOf(cluster.server), '/'),
    ...given('caData', cluster['certificate-authority-data']),
    skipTlsVerify: cluster['insecure-skip-tls-verify'] === true,
    ...given('tlsServerName', cluster['tls-server-name']),
    ...given('proxyUrl', cluster['proxy-url']),
    user: {
      ...given('token', user.token),
      ...given('certData', user['client-certificate-data']),
      ...given('keyData', user['client-key-data']),
      ...given('username', user.username),
      ...given('password', user.password),
      ...given('as', user.as),
      ...(isObject(user['auth-provider']) ? { oidc: settingsOf(user['auth-provider'].config) } : {}),
    },
  };
}

/** What the library knows of the provider; a file of certificates is left out. */
const OIDC_SETTINGS = ['client-id', 'client-secret', 'id-token', 'idp-issuer-url', 'refresh-token'];

function settingsOf(config: Json | undefined): Readonly<Record<string, string>> {
  if (!isObject(config)) return {};
  return Object.fromEntries(
    OIDC_SETTINGS.flatMap(name => (textOf(config[name]) === '' ? [] : [[name, textOf(config[name])]])),
  );
}

function given<N extends string>(name: N, value: Json | undefined): { readonly [K in N]?: string } {
  const text = textOf(value);
  return (text === '' ? {} : { [name]: text }) as { readonly [K in N]?: string };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
