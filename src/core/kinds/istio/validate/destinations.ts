// Destination of a route: host, subset, port; and the weights of several. Source: Istio pkg/config/validation
// (validateDestination, validateHTTPRouteDestinations, validateRouteDestinations).

import type { Destination } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { checkPort } from '../../validate/ports.ts';
import { checkWildcardHost, isLabel } from './hosts.ts';

export function checkDestination(destination: Destination | undefined, path: string, report: Report): void {
  if (destination === undefined) {
    report(path, 'is missing; expected a destination with a host');
    return;
  }
  if (destination.host === '*') report(`${path}.host`, '"*" is every host; expected one');
  else checkWildcardHost(destination.host, `${path}.host`, report);
  if (destination.subset) checkSubsetName(destination.subset, `${path}.subset`, report);
  if (destination.port !== undefined) checkPort(destination.port.number ?? 0, `${path}.port.number`, report);
}

export function checkSubsetName(name: string, path: string, report: Report): void {
  if (!isLabel(name)) report(path, `${quoted(name)} is not the name of a subset: expected letters, digits and "-"`);
}

/** Weights are shares of their sum; a single destination needs none. */
export function checkWeights(
  destinations: readonly { readonly weight?: number }[],
  path: string,
  report: Report,
): void {
  let sum = 0;
  destinations.forEach(({ weight = 0 }, i) => {
    if (weight < 0) report(`${path}[${i}].weight`, `${weight} is negative`);
    sum += weight;
  });
  if (destinations.length > 1 && sum === 0) report(path, 'the weights of several destinations sum up to 0');
}
