// Whose private keys a proxy may read: a Secret of its own namespace is served only if its account may list the Secrets
// there, or, where no API server can be asked, if configuration made for the proxy refers to the Secret.
//
// Invariant: every rule fails closed. Not asked yet, an answer of "no" and an unknown setting all deny.
// Source: Istio pilot/pkg/xds/sds.go (proxyAuthorizationResult), pilot/pkg/credentials/kube/secrets.go (Authorize).

import { secretNameIn } from '../../model/credential-name.ts';
import type { VerifiedIdentity } from '../../model/identity.ts';
import { kubernetesKey } from '../../model/object.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { gatewayChoices } from '../gateway/gateway-selection.ts';

/** The flag that chooses among the rules; `namespace` is the rule of journals that are older than the flag. */
export type SecretAccessRule = 'review' | 'references' | 'namespace';
export const secretAccessRules: readonly SecretAccessRule[] = ['review', 'references', 'namespace'];

/** May the proxy read `name` of its own namespace, private key included? */
export function mayReadSecret(reader: ProxyReader, name: string, identity: VerifiedIdentity): boolean {
  const rule = reader.feature('PERIPLUS_SECRET_ACCESS');
  if (rule === 'namespace') return true;
  if (rule !== 'review') return isReferenced(reader, name);
  // The account's own cluster answers; nothing is known of a cluster that is not configured.
  const cluster = reader.facet('clusterId') || reader.setting('clusterId');
  const key = kubernetesKey(cluster, identity.namespace, identity.serviceAccount);
  return reader.object('SecretAccess', key)?.spec.allowed === true;
}

function isReferenced(reader: ProxyReader, name: string): boolean {
  if (reader.get(serverCredentials, '').has(name)) return true;
  return reader.indexed('rulesByCredential', name).length > 0;
}

/** Names of Secrets that the servers of the proxy's Gateways refer to, without namespace. */
const serverCredentials: Query<'', ReadonlySet<string>> = {
  name: 'select/serverCredentials',
  run: reader => {
    const names = new Set<string>();
    if (reader.facet('type') !== 'router') return names;
    for (const { key } of reader.derived(gatewayChoices)) {
      for (const { tls } of reader.object('Gateway', key)?.spec.servers ?? []) {
        for (const text of [tls?.credentialName ?? '', ...(tls?.credentialNames ?? [])]) {
          const name = secretNameIn(text);
          if (name !== undefined) names.add(name);
        }
      }
    }
    return names;
  },
};
