// Extension configurations by name: those that EnvoyFilters add, then those of traffic extensions. Of several with one
// name the first counts, because Envoy takes exactly one.
// Source: Istio pilot/pkg/xds/ecds.go (EcdsGenerator.Generate).

import type { Resource } from '../../../core/model/resource.ts';
import type { Query } from '../../../core/query/reader.ts';
import { selectExtensionConfig } from '../../../core/select/extension/extension-config.ts';
import { extensionPatches } from '../../../core/select/patch/proxy-patches.ts';
import { extensionConfig } from '../../generate/extension/extension-config.ts';
import { addedExtension } from '../../generate/patch/extension.ts';
import type { TypedExtensionConfig } from '../../proto/types.gen.ts';

/** Argument: the name of the filter that asks for it. */
export const extensionNamed: Query<string, Resource<TypedExtensionConfig> | undefined> = {
  name: 'extension/extensionNamed',
  run: (reader, name) => {
    const patch = reader.get(extensionPatches, '').find(({ value }) => value.name === name);
    if (patch !== undefined) return reader.make(addedExtension, { patch });
    const inputs = selectExtensionConfig(reader, name);
    return inputs === undefined ? undefined : reader.make(extensionConfig, inputs);
  },
};
