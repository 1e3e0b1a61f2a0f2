// JwksDocument: the key set that an issuer of tokens answered with. No user writes one; the JWKS adapter records
// fetched key sets in this form (docs/adr/0009), so that a replay asks no issuer and the last good answer serves while
// the issuer is away.
//
//     {apiVersion: periplus.internal/v1, kind: JwksDocument, metadata: {name: <digest of issuer and URI>},
//      spec: {issuer: https://issuer.example, jwksUri: "", keys: '{"keys": […]}'}}
//
// `keys` is a text: it stands in listeners byte for byte. Symmetric keys make the text private; it then stands under
// `stringData`, which the journal seals as it does a Secret's.

import { kubernetesKind } from '../kubernetes/kubernetes-kind.ts';

export const PERIPLUS_API = 'periplus.internal/v1';

export interface JwksDocumentData {
  /** As the rule writes it. */
  readonly issuer: string;
  /** As the rule writes it; empty where the issuer's discovery document names it. */
  readonly jwksUri: string;
  readonly keys: string;
}
interface Decoded {
  readonly spec?: {
    readonly issuer?: string;
    readonly jwksUri?: string;
    readonly keys?: string;
  };
  readonly stringData?: { readonly keys?: string };
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly JwksDocument: { readonly spec: JwksDocumentData; readonly indexes: 'jwksByIssuer'; readonly push: 'own' };
  }
}

export const jwksDocument = kubernetesKind<'JwksDocument', Decoded>({
  kind: 'JwksDocument',
  group: 'periplus.internal',
  versions: ['v1'],
  push: 'own',
  clusterScoped: true,
  messages: {
    Object: [
      { name: 'spec', type: { message: 'Spec' } },
      { name: 'stringData', type: { message: 'PrivateKeys' } },
    ],
    Spec: ['issuer', 'jwksUri', 'keys'].map(name => ({ name, type: 'string' as const })),
    PrivateKeys: [{ name: 'keys', type: 'string' }],
  },
  flatten: ({ spec: { issuer = '', jwksUri = '', keys = '' } = {}, stringData }) => ({
    issuer,
    jwksUri,
    keys: stringData?.keys ?? keys,
  }),
  indexes: {
    /** `issuer jwksUri` */
    jwksByIssuer: ({ spec: { issuer, jwksUri } }) => [jwksKey(issuer, jwksUri)],
  },
});

/** The key of the index: both texts as the rule writes them. */
export function jwksKey(issuer: string, jwksUri: string): string {
  return `${issuer} ${jwksUri}`;
}
