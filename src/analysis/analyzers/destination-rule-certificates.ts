// TLS to a host whose certificate is verified against nothing.
// Source: Istio pkg/config/analysis/analyzers/destinationrule/ca-certificates.go.

import type { ClientTLSSettings } from '../../core/schema/istio-types.gen.ts';
import type { Analyzer } from '../analyzer.ts';
import {
  noServerCertificateVerificationDestinationLevel,
  noServerCertificateVerificationPortLevel,
} from '../ist-0001-0145.ts';
import { fullName } from '../objects.ts';

export const destinationRuleCertificates: Analyzer = {
  name: 'destinationrule.CaCertificateAnalyzer',
  description: 'Checks if caCertificates is set when TLS mode is SIMPLE/MUTUAL',
  needs: ['DestinationRule'],
  analyze: (objects, report) => {
    for (const item of objects.all('DestinationRule')) {
      const { host = '', trafficPolicy = {}, workloadSelector } = item.spec;
      const { tls, portLevelSettings = [] } = trafficPolicy;
      const selects = workloadSelector !== undefined;
      const [name, namespace] = [fullName(item), item.namespace];
      if (isUnverified(tls, selects)) {
        const wording = noServerCertificateVerificationDestinationLevel(name, namespace, tls.mode ?? '', host);
        report(item, wording, 'spec.trafficPolicy.tls');
      }
      portLevelSettings.forEach(({ tls: settings, port }, i) => {
        if (!isUnverified(settings, selects)) return;
        // As a protobuf message prints in Go.
        const shown = `number:${port?.number ?? 0}`;
        const wording = noServerCertificateVerificationPortLevel(name, namespace, settings.mode ?? '', host, shown);
        report(item, wording, `spec.trafficPolicy.portLevelSettings[${i}].tls`);
      });
    }
  },
};

function isUnverified(tls: ClientTLSSettings | undefined, selectsWorkloads: boolean): tls is ClientTLSSettings {
  if (tls === undefined || (tls.mode !== 'SIMPLE' && tls.mode !== 'MUTUAL')) return false;
  const { caCertificates = '', credentialName = '' } = tls;
  return caCertificates === '' && !(credentialName !== '' && selectsWorkloads);
}
