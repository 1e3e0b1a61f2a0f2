// The certificate of a workload and the roots that it trusts, as secrets of its TLS contexts.
// Source: Istio pilot/pkg/security/model/authentication.go (ApplyToCommonTLSContext).

import type { FileCertificates } from '../../../core/select/listener/mesh-tls.ts';
import type { SdsSecretConfig } from '../../proto/types.gen.ts';
import {
  AGENT_SDS_CLUSTER,
  clusterSecret,
  FILE_SDS_CLUSTER,
  ROOT_SECRET,
  WORKLOAD_SECRET,
  workloadSecret,
} from './sds.ts';

/** The workload's own certificate and the roots that it trusts, as secrets. */
export function workloadSecrets(files: FileCertificates): {
  readonly certificate: SdsSecretConfig;
  readonly root: SdsSecretConfig;
} {
  const source = files.fileSource ? FILE_SDS_CLUSTER : AGENT_SDS_CLUSTER;
  return {
    certificate:
      files.certificate === ''
        ? workloadSecret(WORKLOAD_SECRET, files.overAds)
        : clusterSecret(files.certificate, source),
    root: files.root === '' ? workloadSecret(ROOT_SECRET, files.overAds) : clusterSecret(files.root, source),
  };
}
