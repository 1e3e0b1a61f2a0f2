// Extension configurations by name: those of traffic extensions. Configurations that EnvoyFilters add come before them,
// once patches are applied.
// Source: Istio pilot/pkg/xds/ecds.go (EcdsGenerator.Generate).

import type { Resource } from '../../../core/model/resource.ts';
import type { Query } from '../../../core/query/reader.ts';
import { selectExtensionConfig } from '../../../core/select/extension/extension-config.ts';
import { extensionConfig } from '../../generate/extension/extension-config.ts';
import type { TypedExtensionConfig } from '../../proto/types.gen.ts';

/** Argument: the name of the filter that asks for it. */
export const extensionNamed: Query<string, Resource<TypedExtensionConfig> | undefined> = {
  name: 'extension/extensionNamed',
  run: (reader, name) => {
    const inputs = selectExtensionConfig(reader, name);
    return inputs === undefined ? undefined : reader.make(extensionConfig, inputs);
  },
};
