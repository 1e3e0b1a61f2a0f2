// Everything that workloads of this mesh trust: the authority's roots, those of MeshConfig, those behind SPIFFE bundle
// URLs. Each certificate once, in one order.
// Source: Istio pilot/pkg/trustbundle/trustbundle.go (mergeInternal).

import type { Query, Reader } from '../../query/reader.ts';
import { meshAuthority, REGISTRATION_NAME } from '../proxy/proxy-capabilities.ts';

/** PEM, one certificate each, with a newline at the end. */
export const meshRootList: Query<'', readonly string[]> = {
  name: 'select/meshRootList',
  run: reader => {
    const found = new Set<string>();
    const note = (pem: string): void => {
      for (const block of pem.match(CERTIFICATE) ?? []) found.add(`${block}\n`);
    };
    note(meshAuthority(reader)?.spec.roots ?? '');
    note(registrationRoots(reader));
    for (const { pem = '' } of reader.mesh('caCertificates') ?? []) note(pem);
    for (const { spec } of reader.objects('SpiffeBundle', `${reader.setting('clusterId')}/`))
      spec.certificates.forEach(note);
    return [...found].sort();
  },
};

/** The same as one PEM text. */
export const meshRoots: Query<'', string> = {
  name: 'select/meshRoots',
  run: reader => reader.get(meshRootList, '').join(''),
};

/**
 * What agents are to trust, beside the answer to their signing request; undefined: only that, because
 * ISTIO_MULTIROOT_MESH is off or no root is known.
 */
export const agentRoots: Query<'', readonly string[] | undefined> = {
  name: 'select/agentRoots',
  run: reader => {
    if (!reader.feature('ISTIO_MULTIROOT_MESH')) return undefined;
    const roots = reader.get(meshRootList, '');
    return roots.length === 0 ? undefined : roots;
  },
};

function registrationRoots(reader: Reader): string {
  return reader.object('TrustAnchors', `${reader.setting('clusterId')}/${REGISTRATION_NAME}`)?.spec.roots ?? '';
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
