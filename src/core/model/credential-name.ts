// Names of credentials in configuration: `name` and `kubernetes://[namespace/]name` mean a Secret of Kubernetes, other
// schemes mean what another source has.
// Source: Istio pilot/pkg/model/credentials/resource.go (ParseResourceName).

export const OWN_SECRET = 'kubernetes://';

/** The Secret that a `credentialName` of a Gateway or DestinationRule means; undefined: none of Kubernetes. */
export function secretNameIn(credentialName: string): string | undefined {
  const bare = credentialName.startsWith(OWN_SECRET) ? credentialName.slice(OWN_SECRET.length) : credentialName;
  if (bare === '' || bare.includes('://')) return undefined;
  return bare.slice(bare.lastIndexOf('/') + 1);
}
