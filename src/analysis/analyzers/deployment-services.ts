// Workloads behind several Services that disagree: about the protocol of a port, or about which port leads to a target.
// Source: Istio pkg/config/analysis/analyzers/deployment/services.go.

import { selects } from '../../core/base/labels.ts';
import type { Analyzer } from '../analyzer.ts';
import { isDeploymentInMesh, MANAGED_LABEL, WAYPOINT_CONTROLLER } from '../in-mesh.ts';
import { deploymentAssociatedToMultipleServices, deploymentConflictingPorts } from '../ist-0001-0145.ts';
import type { Report } from '../message.ts';
import { type AnalyzedObjects, fullName, type Item, memberOf, objectsOf, textOf, textsOf } from '../objects.ts';

type Services = readonly Item<'Service'>[];

export const deploymentServices: Analyzer = {
  name: 'deployment.MultiServiceAnalyzer',
  type: 'deployment.ServiceAssociationAnalyzer',
  description: 'Checks association between services and pods',
  needs: ['Deployment', 'Service'],
  analyze: (objects, report) => {
    for (const item of objects.all('Deployment')) {
      if (item.labels[MANAGED_LABEL] === WAYPOINT_CONTROLLER || !isDeploymentInMesh(item, objects)) continue;
      const services = servicesOf(objects, item);
      reportProtocols(item, services, report);
      reportTargets(item, services, report);
    }
  },
};

function servicesOf(objects: AnalyzedObjects, item: Item<'Deployment'>): Services {
  const labels = textsOf(memberOf(item.spec, 'template', 'metadata', 'labels'));
  return objects.all('Service').filter(({ namespace, spec }) => {
    const selector = textsOf(spec.selector);
    return namespace === item.namespace && Object.keys(selector).length > 0 && selects(selector, labels);
  });
}

function reportProtocols(item: Item, services: Services, report: Report): void {
  const ports = new Map<number, { readonly protocols: Set<string>; readonly names: string[] }>();
  for (const service of services) {
    for (const { port, protocol } of objectsOf(service.spec.ports)) {
      const found = ports.get(Number(port)) ?? { protocols: new Set(), names: [] };
      found.protocols.add(textOf(protocol) || 'TCP');
      found.names.push(fullName(service));
      ports.set(Number(port), found);
    }
  }
  for (const [port, { protocols, names }] of ports) {
    if (protocols.size < 2) continue;
    report(item, deploymentAssociatedToMultipleServices(item.name, port, names.sort()), 'metadata.name');
  }
}

function reportTargets(item: Item, services: Services, report: Report): void {
  const targets = new Map<string, Map<number, string>>();
  for (const service of services) {
    for (const { port, targetPort } of objectsOf(service.spec.ports)) {
      const given = `${targetPort ?? ''}`;
      const target = given === '' || given === '0' ? `${port}` : given;
      targets.set(target, (targets.get(target) ?? new Map()).set(Number(port), fullName(service)));
    }
  }
  for (const [target, byPort] of targets) {
    if (byPort.size < 2) continue;
    const ports = [...byPort.keys()].sort((a, b) => a - b);
    report(item, deploymentConflictingPorts(item.name, [...byPort.values()].sort(), target, ports), 'metadata.name');
  }
}
