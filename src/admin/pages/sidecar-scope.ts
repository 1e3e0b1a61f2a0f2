// `sidecarz` in istiod's shape (Istio pilot/pkg/model/sidecar.go, MarshalJSON): what the Sidecar of a connected proxy
// lets it see. Rules of destinations are named by the objects that they were merged of, where istiod shows empty ones.

import type { JsonObject } from '../../core/base/json.ts';
import { scopeRules } from '../../core/select/scope/destination-rules.ts';
import { sidecarScope } from '../../core/select/scope/sidecar-scope.ts';
import type { DebugParts } from '../debug-parts.ts';
import { type Answer, largeJson, type Viewer } from '../http.ts';
import { askedProxy, isAnswer } from './find-proxy.ts';
import { shownService } from './registry.ts';

const DEFAULT_NAME = 'default-sidecar';

export function sidecarPage(
  { world: { state }, engine }: Pick<DebugParts, 'world' | 'engine'>,
  query: URLSearchParams,
  viewer: Viewer,
): Answer | Promise<Answer> {
  const proxy = askedProxy(state, query, viewer);
  if (isAnswer(proxy)) return proxy;
  const scope = engine.tracker.get(state, proxy, sidecarScope, '');
  const rules = engine.tracker.get(state, proxy, scopeRules, '');
  const { namespace, sidecar, services, egressListeners, outboundTrafficPolicy } = scope;
  return largeJson({
    version: String(state.seq),
    name: sidecar?.name ?? DEFAULT_NAME,
    namespace,
    outboundTrafficPolicy: outboundTrafficPolicy as unknown as JsonObject,
    services: services.map(shownService),
    egressListenerServices: egressListeners.map(listener => listener.services.map(shownService)),
    servicesByHostname: Object.fromEntries(services.map(service => [service.hostname, shownService(service)])),
    sidecar: (sidecar?.spec ?? null) as JsonObject | null,
    destinationRules: Object.fromEntries(
      [...rules].map(([host, { from }]) => [host, [{ from: from.map(rule => `${rule.namespace}/${rule.name}`) }]]),
    ),
  });
}
