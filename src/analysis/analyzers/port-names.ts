// Ports of Services whose name or appProtocol tells no protocol: the proxy has to guess from the traffic.
// Source: Istio pkg/config/analysis/analyzers/service/portname.go, pkg/config/kube/conversion.go (ConvertProtocol).

import { kubernetesProtocol } from '../../core/model/protocol.ts';
import type { Analyzer } from '../analyzer.ts';
import { isControlPlane, MANAGED_LABEL } from '../in-mesh.ts';
import { portNameIsNotUnderNamingConvention } from '../ist-0001-0145.ts';
import { externalNameServiceTypeInvalidPortName } from '../ist-0146-0176.ts';
import { objectsOf, textOf } from '../objects.ts';

/** Services of these controllers are written by istiod. */
const CONTROLLERS: readonly (string | undefined)[] = [
  'istio.io-gateway-controller',
  'istio.io-mesh-controller',
  'istio.io-eastwest-controller',
];

export const portNames: Analyzer = {
  name: 'service.PortNameAnalyzer',
  description: 'Checks the port names associated with each service',
  needs: ['Service'],
  analyze: (objects, report) => {
    for (const item of objects.all('Service')) {
      if (isControlPlane(item) || CONTROLLERS.includes(item.labels[MANAGED_LABEL])) continue;
      const external = item.spec.type === 'ExternalName';
      objectsOf(item.spec.ports).forEach(({ name: given, port, protocol, appProtocol, targetPort }, i) => {
        const name = textOf(given);
        const application = typeof appProtocol === 'string' ? appProtocol : undefined;
        const known = kubernetesProtocol(application, name, textOf(protocol), Number(port)) !== 'Unsupported';
        if (known && !(external && name === 'tcp')) return;
        const wording = external
          ? externalNameServiceTypeInvalidPortName()
          : portNameIsNotUnderNamingConvention(name, Number(port), `${targetPort ?? 0}`);
        report(item, wording, `spec.ports[${i}].port`);
      });
    }
  },
};
