// CustomResourceDefinitions of the Gateway API that are older than Istio reads: objects of these kinds are passed over.
// Source: Istio pkg/config/analysis/analyzers/k8sgateway/crdversion.go,
// pkg/config/schema/gatewayapi/minimumversions.go.

import type { Analyzer } from '../analyzer.ts';
import { gatewayAPICRDVersionBelowMinimum } from '../ist-0146-0176.ts';

const BUNDLE_VERSION = 'gateway.networking.k8s.io/bundle-version';
const minimums: Readonly<Record<string, string>> = {
  'grpcroutes.gateway.networking.k8s.io': '1.1.0',
  'backendtlspolicies.gateway.networking.k8s.io': '1.4.0',
  'tlsroutes.gateway.networking.k8s.io': '1.5.0',
};
/** A version with or without `v`; minor and patch may be left out. */
const VERSION = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

export const gatewayApiVersions: Analyzer = {
  name: 'k8sgateway.CRDVersionAnalyzer',
  description: 'Checks Gateway API CRDs are at the minimum version required by this Istio version',
  needs: [],
  analyze: (objects, report) => {
    for (const item of objects.all('CustomResourceDefinition')) {
      const minimum = minimums[item.name];
      const installed = VERSION.exec(item.annotations[BUNDLE_VERSION] ?? '');
      if (minimum === undefined || installed === null) continue;
      const [, major = '0', minor = '0', patch = '0', before = '', build = ''] = installed;
      const numbers = [major, minor, patch].map(Number);
      if (!isLess(numbers, minimum.split('.').map(Number))) continue;
      const shown = `${numbers.join('.')}${before}${build}`;
      report(
        item,
        gatewayAPICRDVersionBelowMinimum(item.name, shown, minimum),
        `metadata.annotations[${BUNDLE_VERSION}]`,
      );
    }
  },
};

function isLess(a: readonly number[], b: readonly number[]): boolean {
  const i = a.findIndex((part, at) => part !== b[at]);
  return i >= 0 && a[i]! < b[i]!;
}
