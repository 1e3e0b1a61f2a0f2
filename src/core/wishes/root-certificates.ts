// The roots of the mesh where workloads find them: a ConfigMap in every namespace, which sidecars mount, and one with
// the revocation list, in every cluster that this control plane leads; or with ENABLE_CLUSTER_TRUST_BUNDLE_API one
// ClusterTrustBundle in their place.
//
// Only the data key is owned: other keys, labels and annotations of the object stay. Nothing is deleted when a
// namespace leaves the mesh.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/namespacecontroller.go, security/pkg/k8s/configutil.go,
// pilot/pkg/config/kube/clustertrustbundle/controller.go.

import { discovers } from '../mesh/discovery-selectors.ts';
import { kubernetesKey } from '../model/object.ts';
import type { Reader } from '../query/reader.ts';
import { ledClusters } from './led-clusters.ts';
import { type PublishedRoots, publishedRoots } from './published-roots.ts';
import { MANAGER, type Wish } from './wish.ts';

/**
 * Namespaces that have no workloads of a mesh (Istio pkg/config/analysis, namespacecontroller.go); kube-system is
 * filled.
 */
const SKIPPED: readonly string[] = ['kube-node-lease', 'kube-public', 'local-path-storage'];
const ELECTION = 'istio-namespace-controller-election';
const ROOTS_KEY = 'root-cert.pem';
const CRL_KEY = 'ca-crl.pem';
const BUNDLE_NAME = 'istio.io:istiod-ca:root-cert';
const BUNDLE_SIGNER = 'istio.io/istiod-ca';

export const rootCertificates = {
  name: 'wishes-root-certificates',
  run: (reader: Reader): readonly Wish[] => {
    const roots = publishedRoots(reader);
    if (roots?.areDistributed !== true) return [];
    const clusters = reader.get(ledClusters, '');
    if (reader.feature('ENABLE_CLUSTER_TRUST_BUNDLE_API')) return clusters.map(cluster => trustBundle(cluster, roots));
    return clusters
      .flatMap(cluster => reader.objects('Namespace', `${cluster}/`))
      .flatMap(({ cluster, name }) => reader.get(ofNamespace, { cluster, namespace: name }));
  },
};

interface Place {
  readonly cluster: string;
  readonly namespace: string;
}

const ofNamespace = {
  name: 'wishes-root-certificates-of-namespace',
  key: ({ cluster, namespace }: Place) => kubernetesKey(cluster, '', namespace),
  run: (reader: Reader, { cluster, namespace }: Place): readonly Wish[] => {
    const roots = publishedRoots(reader);
    if (roots?.areDistributed !== true || !isFilled(reader, { cluster, namespace })) return [];
    const wishes = [configMap(cluster, namespace, reader.feature('PILOT_CA_CERT_CONFIGMAP'), ROOTS_KEY, roots.pem)];
    if (reader.feature('PILOT_ENABLE_CA_CRL')) {
      wishes.push(configMap(cluster, namespace, reader.feature('PILOT_CRL_CONFIGMAP'), CRL_KEY, roots.crl));
    }
    return wishes;
  },
};

function isFilled(reader: Reader, { cluster, namespace }: Place): boolean {
  if (SKIPPED.includes(namespace)) return false;
  const only = reader.feature('ISTIO_WATCH_NAMESPACE');
  if (only !== '' && only !== namespace) return false;
  const selectors = reader.mesh('discoverySelectors') ?? [];
  if (selectors.length === 0) return true;
  const found = reader.object('Namespace', kubernetesKey(cluster, '', namespace));
  return discovers(selectors, found?.labels ?? {});
}

function configMap(cluster: string, namespace: string, name: string, key: string, text: string): Wish {
  return {
    cluster,
    kind: 'ConfigMap',
    namespace,
    name,
    subresource: '',
    manager: MANAGER,
    fields: { data: { [key]: text } },
    atCreation: { metadata: { labels: { 'istio.io/config': 'true' } } },
    verb: 'merge',
    gate: ELECTION,
  };
}

function trustBundle(cluster: string, { pem }: PublishedRoots): Wish {
  return {
    cluster,
    kind: 'ClusterTrustBundle',
    namespace: '',
    name: BUNDLE_NAME,
    subresource: '',
    manager: MANAGER,
    fields: { spec: { signerName: BUNDLE_SIGNER, trustBundle: pem } },
    verb: 'merge',
    gate: ELECTION,
  };
}
