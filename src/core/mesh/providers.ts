// The extension providers of MeshConfig, by name.

import type { MeshConfig_ExtensionProvider } from '../schema/istio-types.gen.ts';

type Provider = MeshConfig_ExtensionProvider;

interface ProviderIndex {
  readonly exact: ReadonlyMap<string, Provider>;
  readonly lowercase: ReadonlyMap<string, Provider>;
}

const indexes = new WeakMap<readonly Provider[], ProviderIndex>();

/** Of several with the name the first. */
export function providerOf(providers: readonly Provider[], name: string): Provider | undefined {
  return indexOf(providers).exact.get(name);
}

/** The same without regard to case. */
export function providerOfAnyCase(providers: readonly Provider[], name: string): Provider | undefined {
  return indexOf(providers).lowercase.get(name.toLowerCase());
}

/** One for each list, which must not change. */
function indexOf(providers: readonly Provider[]): ProviderIndex {
  const known = indexes.get(providers);
  if (known !== undefined) return known;
  const exact = new Map<string, Provider>();
  const lowercase = new Map<string, Provider>();
  for (const provider of providers) {
    const { name } = provider;
    if (name === undefined) continue;
    if (!exact.has(name)) exact.set(name, provider);
    const lower = name.toLowerCase();
    if (!lowercase.has(lower)) lowercase.set(lower, provider);
  }
  const index = { exact, lowercase };
  indexes.set(providers, index);
  return index;
}
