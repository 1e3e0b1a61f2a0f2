// The address, ports and labels of one workload outside Kubernetes. Source: Istio pkg/config/validation
// (validateWorkloadEntry).

import { isIp } from '../../../base/ip.ts';
import { keysOf } from '../../../base/keys.ts';
import type { WorkloadEntry } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { checkUnixAddress, isUnixAddress } from '../../validate/addresses.ts';
import { checkWorkloadLabels } from '../../validate/labels.ts';
import { checkPort } from '../../validate/ports.ts';
import { fqdnProblem, isLabel } from './hosts.ts';

export interface EndpointRules {
  /** The names of the ports of the ServiceEntry; undefined for a WorkloadEntry, which may name any. */
  readonly portNames?: ReadonlySet<string>;
  /** The template of a WorkloadGroup has no address. */
  readonly addressOptional?: boolean;
}

export function checkEndpoint(endpoint: WorkloadEntry, rules: EndpointRules, path: string, report: Report): void {
  const { address = '', network = '', ports = {} } = endpoint;
  if (address === '') {
    if (network === '' && !rules.addressOptional) {
      report(`${path}.address`, 'is missing; expected an address, or a network to be found through');
    }
  } else if (isUnixAddress(address)) {
    checkUnixAddress(address, `${path}.address`, report);
    if (keysOf(ports).length > 0) report(`${path}.ports`, 'has no meaning for a socket');
  } else if (!isIp(address) && fqdnProblem(address) !== undefined) {
    report(`${path}.address`, `${quoted(address)} is neither an IP address nor a host name`);
  }
  for (const name of keysOf(ports)) {
    const at = `${path}.ports[${name}]`;
    if (!isLabel(name)) report(at, `${quoted(name)} is not the name of a port`);
    else if (rules.portNames !== undefined && !rules.portNames.has(name)) {
      report(at, `the ServiceEntry has no port of the name ${quoted(name)}`);
    }
    checkPort(ports[name], at, report);
  }
  checkWorkloadLabels(endpoint.labels ?? {}, `${path}.labels`, report);
}
