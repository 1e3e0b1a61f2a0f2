// Types of sources.mjs, for tests that install the CRDs themselves.

/** The CRDs of a module, in the order of their names. */
export function crdsOf(source: 'istio' | 'gatewayApi' | 'inference'): readonly object[];
