// Applications that run as the proxy's user: their traffic is taken for the proxy's own and is not redirected.
// Source: Istio pkg/config/analysis/analyzers/deployment/pod.go.

import { isObject, type Json } from '../../core/base/json.ts';
import type { Analyzer } from '../analyzer.ts';
import { isControlPlane, PROXY_CONTAINER } from '../in-mesh.ts';
import { invalidApplicationUID } from '../ist-0001-0145.ts';
import { memberOf, objectsOf } from '../objects.ts';

const PROXY_UID = 1337;

export const applicationUid: Analyzer = {
  name: 'applicationUID.Analyzer',
  type: 'deployment.ApplicationUIDAnalyzer',
  description: 'Checks invalid application UID',
  needs: [],
  analyze: (objects, report) => {
    for (const item of [...objects.all('Pod'), ...objects.all('Deployment')]) {
      const spec = item.kind === 'Pod' ? item.spec : memberOf(item.spec, 'template', 'spec');
      if (isControlPlane(item) || !runsAsProxy(spec)) continue;
      report(item, invalidApplicationUID());
    }
  },
};

function runsAsProxy(spec: Json | undefined): boolean {
  if (!isObject(spec)) return false;
  const applications = objectsOf(spec.containers).filter(
    ({ name }) => name !== PROXY_CONTAINER && name !== 'istio-operator',
  );
  return [spec, ...applications].some(one => memberOf(one, 'securityContext', 'runAsUser') === PROXY_UID);
}
