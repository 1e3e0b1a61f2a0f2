// The ProxyConfig that a proxy would be injected with: mesh defaults < ProxyConfig of the root namespace < of its namespace < of its
// workload. Generation does not read it (an injected proxy sends what it has as metadata PROXY_CONFIG, see proxy-config.ts); injection does.
// Rules: Istio pilot/pkg/model/proxy_config.go (EffectiveProxyConfig).

import { byAge, type Obj } from '../object.ts';
import type { ProxyReader, Query } from '../reader.ts';
import { selects } from '../registry/labels.ts';
import { proxyLabels } from '../registry/workload.ts';
import type { ProxyConfig } from '../schema/istio-types.gen.ts';

export const effectiveProxyConfig: Query<'', ProxyConfig> = {
  name: 'select/effectiveProxyConfig',
  run: reader => {
    const root = reader.mesh('rootNamespace');
    const namespace = reader.facet('namespace');
    const labels = reader.derived(proxyLabels);
    let config: ProxyConfig = reader.mesh('defaultConfig');
    for (const place of namespace === root ? [root] : [root, namespace]) {
      config = over(
        config,
        oldestFirst(reader, place).filter(({ spec }) => spec.selector === undefined),
      );
    }
    const own = oldestFirst(reader, namespace).filter(
      ({ spec }) => spec.selector !== undefined && selects(spec.selector.matchLabels ?? {}, labels),
    );
    return over(config, own);
  },
};

function oldestFirst(reader: ProxyReader, namespace: string): readonly Obj<'ProxyConfig'>[] {
  return [...reader.objects('ProxyConfig', `${namespace}/`)].sort(byAge);
}

/** Of several, the oldest counts most; environment variables are merged by name. */
function over(config: ProxyConfig, objects: readonly Obj<'ProxyConfig'>[]): ProxyConfig {
  let merged = config;
  for (const { spec } of [...objects].reverse()) {
    const { concurrency, environmentVariables, image } = spec;
    const below = merged;
    merged = {
      ...below,
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(environmentVariables === undefined
        ? {}
        : { proxyMetadata: { ...below.proxyMetadata, ...environmentVariables } }),
      ...(image === undefined ? {} : { image }),
    };
  }
  return merged;
}
