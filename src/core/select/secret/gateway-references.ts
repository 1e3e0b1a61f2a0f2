// The secrets that the servers of a proxy's Gateways refer to, as far as the proxy may have them: its proven namespace
// is the Gateway's, its account is the one that serves the Gateway, and the secret lies beside the Gateway or a
// ReferenceGrant gives it away. For a ListenerSet the Gateway is its parent's, and secrets lie beside the set.
// Source: Istio pilot/pkg/model/gateway.go (mergeGateways: verifiedCertificateReferences).

import { PARENT_NAMESPACE, SERVICE_ACCOUNT } from '../../model/derived.ts';
import type { VerifiedIdentity } from '../../model/identity.ts';
import type { Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { ServerTLSSettings } from '../../schema/istio-types.gen.ts';
import { CORE_SECRET, isGranted } from '../../translate/gateway-api/grants.ts';
import { gatewayInForce } from '../../translate/in-force.ts';
import { gatewayChoices } from '../gateway/gateway-selection.ts';

export const OF_GATEWAY = 'kubernetes-gateway://';
export const CA_SUFFIX = '-cacert';

/** Argument ''. Names as SDS requests have them. */
export const gatewayReferences: Query<'', ReadonlySet<string>> = {
  name: 'select/gatewayReferences',
  run: reader => {
    const references = new Set<string>();
    const identity = reader.identity();
    if (identity === undefined || reader.facet('type') !== 'router') return references;
    for (const { key } of reader.derived(gatewayChoices)) {
      const gateway = gatewayInForce(reader, key);
      if (gateway === undefined || !isServedBy(gateway, identity)) continue;
      for (const { tls } of gateway.spec.servers ?? []) {
        if (tls === undefined) continue;
        for (const name of namesOf(tls)) {
          if (!mayRefer(reader, gateway, name)) continue;
          references.add(name);
          if (asksForClients(tls)) references.add(name + CA_SUFFIX);
        }
      }
    }
    return references;
  },
};

function namesOf({ credentialName = '', credentialNames = [] }: ServerTLSSettings): readonly string[] {
  return credentialNames.length > 0 ? credentialNames : [credentialName];
}

function asksForClients({ mode }: ServerTLSSettings): boolean {
  return mode === 'MUTUAL' || mode === 'OPTIONAL_MUTUAL';
}

function isServedBy({ namespace, annotations }: Obj<'Gateway'>, identity: VerifiedIdentity): boolean {
  const account = annotations[SERVICE_ACCOUNT] ?? '';
  if ((annotations[PARENT_NAMESPACE] ?? namespace) !== identity.namespace) return false;
  return account === '' || account === identity.serviceAccount;
}

function mayRefer(reader: Reader, { namespace, annotations }: Obj<'Gateway'>, reference: string): boolean {
  if (!reference.startsWith(OF_GATEWAY)) return true;
  const [owner = '', name = ''] = reference.slice(OF_GATEWAY.length).split('/');
  if (owner === namespace) return true;
  const kind = annotations[PARENT_NAMESPACE] === undefined ? 'Gateway' : 'ListenerSet';
  return isGranted(reader, { kind, namespace }, { type: CORE_SECRET, namespace: owner, name });
}
