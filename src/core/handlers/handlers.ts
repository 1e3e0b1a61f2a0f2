// The push that a change of one object requests. Its kind declares how (`push` in KindTypes): as configuration, by a
// handler of its own under Istio's name for it, or not at all. A handler compares the states before and after.
//
// Handlers decide whether a push happens, how it is debounced (`full`) and how it is reported (`configsUpdated`,
// reasons). They do not decide which proxies are affected; the tracker does. So a handler may request too much, which
// costs a check, and never too little: law 2 depends on it.

import { definitions } from '../kinds/registry.ts';
import type { KindName, KindPushes } from '../model/kind.ts';
import { mergePushRequests, type PushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import { ambientRequest } from './ambient.ts';
import type { Change } from './change.ts';
import { configHandler, kubernetesGatewayHandler, virtualServiceHandler } from './config.ts';
import { configurationClientsRequest } from './configuration-clients.ts';
import { endpointSliceHandler, endpointsHandler, nodeHandler, podHandler } from './endpoints.ts';
import { jwksDocumentHandler } from './jwks-document.ts';
import { serviceExportHandler, serviceImportHandler } from './multi-cluster-services.ts';
import { namespaceHandler } from './namespace.ts';
import { networkGatewayHandler } from './network-gateway.ts';
import { revisionTagHandler } from './revision-tag.ts';
import { certificateHandler, configMapHandler, secretHandler, trustHandler } from './secret.ts';
import { serviceHandler } from './service.ts';
import { serviceEntryHandler } from './service-entry.ts';
import { workloadEntryHandler } from './workload-entry.ts';

type Handler = (before: State, after: State, change: Change) => PushRequest | undefined;
/** The kinds that declare `push: 'own'`; the compiler refuses a table without one of them, or with any other. */
type OwnKind = { [K in KindName]: KindPushes[K] extends 'own' ? K : never }[KindName];

const own: { readonly [K in OwnKind]: Handler } = {
  ConfigMap: (_before, after, change) => configMapHandler(after, change),
  EndpointSlice: endpointSliceHandler,
  Endpoints: endpointsHandler,
  JwksDocument: (_before, _after, change) => jwksDocumentHandler(change),
  KubernetesGateway: (_before, after, change) => kubernetesGatewayHandler(after, change),
  MutatingWebhookConfiguration: (_before, _after, change) => revisionTagHandler(change),
  Namespace: namespaceHandler,
  Node: nodeHandler,
  Pod: podHandler,
  RemoteGateway: networkGatewayHandler,
  RemoteWorkloadEntry: workloadEntryHandler,
  ResolvedName: networkGatewayHandler,
  Secret: (_before, _after, change) => secretHandler(change),
  SecretAccess: (_before, _after, change) => certificateHandler(change),
  SpiffeBundle: (_before, _after, change) => trustHandler(change),
  TrustAnchors: (_before, _after, change) => trustHandler(change),
  Service: serviceHandler,
  ServiceEntry: serviceEntryHandler,
  ServiceExport: (_before, after, change) => serviceExportHandler(after, change),
  ServiceImport: serviceImportHandler,
  ValidatingWebhookConfiguration: (_before, _after, change) => revisionTagHandler(change),
  VirtualService: (_before, after, change) => virtualServiceHandler(after, change),
  WorkloadCertificate: (_before, _after, change) => certificateHandler(change),
  WorkloadEntry: workloadEntryHandler,
};

/** Undefined: the change affects nothing that a proxy is sent. */
export function changeHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const requests = [requestOf(before, after, change), ambientRequest(after, change)].filter(one => one !== undefined);
  const request = requests.length === 0 ? undefined : requests.reduce(mergePushRequests);
  return request ?? configurationClientsRequest(after, change);
}

function requestOf(before: State, after: State, change: Change): PushRequest | undefined {
  const { push } = definitions[change.kind];
  if (push === 'none') return undefined;
  return push === 'config' ? configHandler(change) : own[change.kind as OwnKind](before, after, change);
}
