// An extension configuration that a patch adds, one object for each patch.
// Source: Istio pilot/pkg/networking/core/envoyfilter/extension_configuration_patch.go
// (InsertedExtensionConfigurations).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import type { TypedExtensionConfig } from '../../proto/types.gen.ts';

export const addedExtension: Generator<{ readonly patch: EnvoyPatch }, Resource<TypedExtensionConfig>> = {
  name: 'patch/addedExtension',
  run: ({ patch }) => {
    const message = patch.value as TypedExtensionConfig;
    return { name: message.name ?? '', message, problems: [] };
  },
};
