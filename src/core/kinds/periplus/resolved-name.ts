// ResolvedName: the DNS answer for a host name. No user writes one; the DNS adapter records answers in this form, so an
// answer is recorded, compared, kept over a restart, indexed and explained like any other object, and a replay needs no
// DNS server.
//
//     {apiVersion: periplus.internal/v1, kind: ResolvedName, metadata: {name: gate.example.com}, spec: {addresses:
//     [192.0.2.1]}}

import { isIp } from '../../base/ip.ts';
import { kubernetesKind } from '../kubernetes/kubernetes-kind.ts';
import { isDns1123Subdomain } from '../validate/names.ts';

export const RESOLVED_NAME_API = 'periplus.internal/v1';

export interface ResolvedNameData {
  /** IP addresses, sorted, no repeats; none: the name has none. */
  readonly addresses: readonly string[];
}
interface Decoded {
  readonly spec?: { readonly addresses?: readonly string[] };
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly ResolvedName: { readonly spec: ResolvedNameData; readonly push: 'own' };
  }
}

export const resolvedName = kubernetesKind<'ResolvedName', Decoded>({
  kind: 'ResolvedName',
  group: 'periplus.internal',
  versions: ['v1'],
  push: 'own',
  clusterScoped: true,
  messages: {
    Object: [{ name: 'spec', type: { message: 'Spec' } }],
    Spec: [{ name: 'addresses', type: 'string', repeated: true }],
  },
  flatten: ({ spec }) => ({ addresses: [...new Set((spec?.addresses ?? []).filter(isIp))].sort() }),
});

/**
 * The name under which the answer for a host is kept: small letters, no dot at the end; undefined for what cannot be a
 * name of DNS.
 */
export function dnsNameOf(host: string): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, '');
  return isDns1123Subdomain(name) && !isIp(name) ? name : undefined;
}
