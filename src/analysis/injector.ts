// The injector's ConfigMap of a revision, and the Helm values in it.
// Source: Istio pkg/config/analysis/analyzers/util/config.go (GetInjectorConfigMapName), injection/injection-image.go.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { type Item, memberOf, textOf } from './objects.ts';

const NAME = 'istio-sidecar-injector';

export function injectorConfigMap(revision = ''): string {
  return revision === '' || revision === 'default' ? NAME : `${NAME}-${revision}`;
}

/** The values that Istio was installed with; undefined if they cannot be read. */
export function injectorValues(map: Item<'ConfigMap'>): JsonObject | undefined {
  try {
    const values = JSON.parse(textOf(memberOf(map.raw, 'data', 'values'))) as Json;
    return isObject(values) ? values : undefined;
  } catch {
    return undefined;
  }
}
