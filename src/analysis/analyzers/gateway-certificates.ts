// Two Gateways of the same workloads with one certificate: a client that reuses its HTTP/2 connection gets 404s.
// Source: Istio pkg/config/analysis/analyzers/gateway/certificate.go; https://github.com/envoyproxy/envoy/issues/6767.

import { selects } from '../../core/base/labels.ts';
import type { ServerTLSSettings } from '../../core/schema/istio-types.gen.ts';
import type { Analyzer } from '../analyzer.ts';
import { gatewayDuplicateCertificate } from '../ist-0001-0145.ts';
import { fullName } from '../objects.ts';

export const gatewayCertificates: Analyzer = {
  name: 'gateway.CertificateAnalyzer',
  description: 'Checks a gateway certificate',
  needs: ['Gateway'],
  analyze: (objects, report) => {
    const gateways = objects.all('Gateway');
    for (const item of gateways) {
      for (const other of gateways) {
        if (fullName(item) === fullName(other) || !selects(item.spec.selector ?? {}, other.spec.selector ?? {}))
          continue;
        for (const { tls: mine } of item.spec.servers ?? []) {
          for (const { tls: theirs } of other.spec.servers ?? []) {
            if (mine === undefined || theirs === undefined || !isSameCertificate(mine, theirs)) continue;
            report(item, gatewayDuplicateCertificate([fullName(item), fullName(other)]), 'metadata.name');
          }
        }
      }
    }
  },
};

function isSameCertificate(a: ServerTLSSettings, b: ServerTLSSettings): boolean {
  const [nameA = '', nameB = ''] = [a.credentialName, b.credentialName];
  if (nameA !== '' || nameB !== '') return nameA === nameB;
  const { serverCertificate = '', privateKey = '' } = a;
  return (
    serverCertificate !== '' &&
    serverCertificate === b.serverCertificate &&
    privateKey !== '' &&
    privateKey === b.privateKey
  );
}
