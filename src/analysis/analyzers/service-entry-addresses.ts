// TCP ports of a ServiceEntry without an address: the proxy cannot tell their traffic from that to other hosts.
// Source: Istio pkg/config/analysis/analyzers/serviceentry/protocoladdresses.go.

import { isObject } from '../../core/base/json.ts';
import type { Analyzer } from '../analyzer.ts';
import { serviceEntryAddressesRequired } from '../ist-0001-0145.ts';
import type { AnalyzedObjects } from '../objects.ts';

export const serviceEntryAddresses: Analyzer = {
  name: 'serviceentry.Analyzer',
  type: 'serviceentry.ProtocolAddressesAnalyzer',
  description: 'Checks the validity of ServiceEntry',
  needs: ['ServiceEntry'],
  analyze: (objects, report) => {
    if (allocates(objects)) return;
    for (const item of objects.all('ServiceEntry')) {
      const { addresses = [], ports = [] } = item.spec;
      const { addresses: allocated } = item.status;
      if (addresses.length > 0 || (Array.isArray(allocated) && allocated.some(isObject))) continue;
      ports.forEach(({ protocol = '' }, i) => {
        if (protocol !== '' && protocol.toUpperCase() !== 'TCP') return;
        report(item, serviceEntryAddressesRequired(), `spec.ports[${i}].name`);
      });
    }
  },
};

/** Proxies answer DNS themselves and give every host an address of its own. */
function allocates({ mesh }: AnalyzedObjects): boolean {
  const metadata = mesh.defaultConfig.proxyMetadata ?? {};
  const isOn = (name: string): boolean => metadata[name] === 'true';
  return (
    isOn('ISTIO_META_DNS_CAPTURE') && (isOn('ISTIO_META_DNS_AUTO_ALLOCATE') || isOn('PILOT_ENABLE_IP_AUTOALLOCATE'))
  );
}
