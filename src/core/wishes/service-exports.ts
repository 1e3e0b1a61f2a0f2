// A ServiceExport for every Service that is not local to its cluster (ENABLE_MCS_AUTO_EXPORT), in the cluster of the
// Service, remote ones too. One that was made here goes with its Service; one of another author is left alone. The
// label tells them apart: of an object without any field of its own an API server keeps no manager.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/autoserviceexportcontroller.go,
// pilot/pkg/serviceregistry/kube/controller/multicluster.go.

import type { JsonObject } from '../base/json.ts';
import { kubernetesHost } from '../model/hosts.ts';
import { kubernetesKey, type Obj } from '../model/object.ts';
import type { Query, Reader } from '../query/reader.ts';
import { isClusterLocal } from '../registry/cluster-local.ts';
import { oneOf } from '../translate/derived.ts';
import { MANAGER, type Wish } from './wish.ts';

const ELECTION = 'istio-serviceexport-controller-election';
const MADE_HERE: JsonObject = { 'app.kubernetes.io/managed-by': 'periplus' };

/** Argument ''. */
export const serviceExports: Query<'', readonly Wish[]> = {
  name: 'wishes/serviceExports',
  run: reader => {
    if (!reader.feature('ENABLE_MCS_AUTO_EXPORT')) return [];
    const exported = reader.objects('Service').filter(service => !isLocal(reader, service));
    const orphans = reader
      .objects('ServiceExport')
      .filter(
        object => reader.object('Service', kubernetesKey(object.cluster, object.namespace, object.name)) === undefined,
      );
    return [
      ...exported.map(service => wishFor(reader, service, {})),
      ...orphans.map(object => wishFor(reader, object, undefined)),
    ];
  },
};

function isLocal(reader: Reader, { name, namespace }: Obj<'Service'>): boolean {
  return reader.get(isClusterLocal, kubernetesHost(name, namespace, reader.setting('domainSuffix')));
}

/** `fields` undefined: it is to be absent. */
function wishFor(
  reader: Reader,
  { cluster, namespace, name }: Obj<'Service' | 'ServiceExport'>,
  fields: Wish['fields'],
): Wish {
  return oneOf<Wish>(reader, {
    ...{ cluster, kind: 'ServiceExport', namespace, name, subresource: '' },
    ...{ manager: MANAGER, verb: 'merge', gate: ELECTION },
    fields,
    ...(fields === undefined ? {} : { atCreation: { metadata: { labels: MADE_HERE } } }),
  });
}
