// InferencePools as backends, behind istiod's flag: requests go to the headless service that stands for the pool.
//
// The labels of that service name the endpoint picker: they say what was in force when it was written.
// Source: Istio pilot/pkg/config/kube/gateway/inferencepool_collection.go, pilot/pkg/config/kube/gateway/conversion.go
// (buildDestination).

import { kubernetesHost } from '../../model/hosts.ts';
import { configKey } from '../../model/object.ts';
import type { Service } from '../../model/service.ts';
import type { Reader } from '../../query/reader.ts';
import { servicesOfHost } from '../../registry/services.ts';
import type { BackendDestination } from './backend-destination.ts';
import { BACKEND_NOT_FOUND, configError, INVALID_DESTINATION, INVALID_KIND } from './config-error.ts';
import { type EndpointPicker, POOL_LABELS } from './endpoint-picker.ts';
import { inferenceServiceName } from './inference-service.ts';

export function inferenceDestination(reader: Reader, name: string, namespace: string): BackendDestination {
  const soft = (reason: string, message: string): BackendDestination => ({
    destination: {},
    error: configError(reason, message),
  });
  if (!reader.feature('ENABLE_GATEWAY_API_INFERENCE_EXTENSION')) {
    const why = 'InferencePool is not enabled. To enable, set ENABLE_GATEWAY_API_INFERENCE_EXTENSION to true in istiod';
    return soft(INVALID_KIND, why);
  }
  if (name.includes('.')) {
    const message = 'InferencePool.Name invalid; the name of the InferencePool must be used, not the hostname.';
    return { destination: undefined, error: configError(INVALID_DESTINATION, message) };
  }
  if (reader.object('InferencePool', configKey(namespace, name)) === undefined) {
    return soft(BACKEND_NOT_FOUND, `backend(${name}) not found`);
  }
  const host = kubernetesHost(inferenceServiceName(name), namespace, reader.setting('domainSuffix'));
  const service = reader.get(servicesOfHost, host).find(one => one.namespace === namespace);
  if (service === undefined) return soft(BACKEND_NOT_FOUND, `backend(${host}) not found`);
  const picker = pickerOf(service, reader.setting('domainSuffix'));
  if (picker === undefined) {
    const message = 'InferencePool service invalid, extensionRef labels not found';
    return { destination: undefined, error: configError(INVALID_DESTINATION, message) };
  }
  return { destination: { host, port: { number: service.ports[0]?.port ?? 0 } }, error: undefined, picker };
}

function pickerOf({ namespace, labels }: Service, domain: string): EndpointPicker | undefined {
  const [name = '', port = '', failureMode = ''] = [
    labels[POOL_LABELS.service],
    labels[POOL_LABELS.port],
    labels[POOL_LABELS.failureMode],
  ];
  if (name === '' || port === '' || failureMode === '') return undefined;
  const number = /^\d+$/.test(port) ? Number(port) : 0;
  return { host: kubernetesHost(name, namespace, domain), port: number, failOpen: failureMode === 'FailOpen' };
}
