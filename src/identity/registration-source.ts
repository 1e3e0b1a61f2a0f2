// Where the registration authority's settings come from: files beside the process, and MeshConfig.
// Source: Istio pilot/pkg/bootstrap/istio_ca.go (createIstioRA), pilot/pkg/bootstrap/certcontroller.go
// (initDNSCertsK8SRA).

import { readFile } from 'node:fs/promises';
import { isObject, type Json } from '../core/base/json.ts';
import type { State } from '../core/state.ts';
import type { SignerRoots } from './registration.ts';
import type { IdentitySettings } from './settings.ts';

export const KUBERNETES_REGISTRATION = 'ISTIOD_RA_KUBERNETES_API';
const KUBERNETES_PROVIDER = 'k8s.io/';
const EXTERNAL_ROOT = './etc/external-ca-cert/root-cert.pem';
const CLUSTER_ROOT = './var/run/secrets/kubernetes.io/serviceaccount/ca.crt';

/** The signer of the control plane's own certificate; undefined: another provider. */
export function servingSigner({ certProvider }: IdentitySettings): string | undefined {
  return certProvider.startsWith(KUBERNETES_PROVIDER) ? certProvider.slice(KUBERNETES_PROVIDER.length) : undefined;
}

/** Undefined: the settings fit each other. */
export function whyNotRegistering(settings: IdentitySettings): string | undefined {
  const { externalCa, certProvider } = settings;
  if (externalCa !== '' && externalCa !== KUBERNETES_REGISTRATION) {
    return `EXTERNAL_CA ${externalCa}: expected ${KUBERNETES_REGISTRATION}`;
  }
  if (certProvider === 'kubernetes')
    return 'PILOT_CERT_PROVIDER kubernetes: expected istiod, k8s.io/SIGNER, custom or none';
  if (servingSigner(settings) === undefined || externalCa !== '') return undefined;
  return `PILOT_CERT_PROVIDER ${certProvider}: needs EXTERNAL_CA=${KUBERNETES_REGISTRATION}`;
}

/** PEM; '': there is no file, or requests may name signers of a domain, whose roots are configured. */
export async function registrationRoots({ signerDomain }: IdentitySettings): Promise<string> {
  const external = await readFile(EXTERNAL_ROOT, 'utf8').catch(() => undefined);
  if (external !== undefined) return external;
  return signerDomain === '' ? readFile(CLUSTER_ROOT, 'utf8').catch(() => '') : '';
}

/** MeshConfig.caCertificates that are for signers. */
export function signerRootsOf({ mesh }: State): readonly SignerRoots[] {
  const rows = (mesh.effective as { readonly caCertificates?: Json }).caCertificates;
  return (Array.isArray(rows) ? rows : [])
    .filter(isObject)
    .flatMap(({ pem, certSigners }) =>
      typeof pem === 'string' && pem !== '' && Array.isArray(certSigners)
        ? [{ pem, certSigners: certSigners.filter(one => typeof one === 'string') }]
        : [],
    );
}
