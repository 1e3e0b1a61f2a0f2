// The ProxyConfig that a proxy would be injected with: mesh defaults < ProxyConfig of the root namespace < of its
// namespace < the annotation proxy.istio.io/config of its pod < ProxyConfig of its workload. Generation does not read
// it (an injected proxy sends what it has as metadata PROXY_CONFIG, see proxy-config.ts); injection does.
// Source: Istio pilot/pkg/model/proxy_config.go (EffectiveProxyConfig).

import { isLeft } from 'fp-ts/lib/Either.js';
import { isObject } from '../../base/json.ts';
import { selects } from '../../base/labels.ts';
import { readYaml } from '../../base/yaml.ts';
import { mergeProxyConfig } from '../../mesh/mesh-config.ts';
import { byAge, type Obj } from '../../model/object.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { podOfProxy } from '../../registry/proxy-workload.ts';
import { proxyLabels } from '../../registry/workload.ts';
import { decodeIstio } from '../../schema/istio.ts';
import type { ProxyConfig } from '../../schema/istio-types.gen.ts';

const ANNOTATION = 'proxy.istio.io/config';

export const effectiveProxyConfig: Query<'', ProxyConfig> = {
  name: 'select/effectiveProxyConfig',
  run: reader => {
    const root = reader.mesh('rootNamespace');
    const namespace = reader.facet('namespace');
    const labels = reader.derived(proxyLabels);
    const config = namespace === root ? [root] : [root, namespace];
    const general = config.map(place => oldestFirst(reader, place).find(({ spec }) => spec.selector === undefined));
    // A selector without labels selects nothing here, and is not general either.
    const own = oldestFirst(reader, namespace).find(({ spec: { selector } }) => {
      const wanted = selector?.matchLabels ?? {};
      return Object.keys(wanted).length > 0 && selects(wanted, labels);
    });
    return [...general.map(ofObject), ofAnnotation(reader), ofObject(own)].reduce(
      mergeProxyConfig,
      reader.mesh('defaultConfig'),
    );
  },
};

/** Of several at one level only the oldest counts. */
function oldestFirst(reader: ProxyReader, namespace: string): readonly Obj<'ProxyConfig'>[] {
  return [...reader.objects('ProxyConfig', `${namespace}/`)].sort(byAge);
}

function ofObject(obj: Obj<'ProxyConfig'> | undefined): ProxyConfig {
  const { concurrency, environmentVariables, image } = obj?.spec ?? {};
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(environmentVariables === undefined ? {} : { proxyMetadata: environmentVariables }),
    ...(image === undefined ? {} : { image }),
  };
}

/** From the pod, or from the proxy's own metadata. What cannot be read is no configuration. */
function ofAnnotation(reader: ProxyReader): ProxyConfig {
  const said = reader.metadata('ANNOTATIONS');
  const text = podOfProxy(reader)?.annotations[ANNOTATION] ?? (isObject(said) ? said[ANNOTATION] : undefined);
  const value = typeof text === 'string' ? readYaml(text) : undefined;
  if (value === undefined || isLeft(value)) return {};
  const decoded = decodeIstio('istio.mesh.v1alpha1.ProxyConfig', value.right, ANNOTATION, { ignoreUnknown: true });
  return isLeft(decoded) ? {} : decoded.right;
}
