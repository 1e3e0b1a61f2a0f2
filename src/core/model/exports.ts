// exportTo of VirtualServices and services: the namespaces that an object is visible to.
// Source: Istio pilot/pkg/model/push_context.go (initServiceRegistry, initVirtualServices), pkg/config/visibility.

export interface Exports {
  /** Visible to every namespace. */
  readonly open: boolean;
  /** Visible to its own namespace. */
  readonly own: boolean;
  /** Other namespaces that are named, sorted. */
  readonly others: readonly string[];
}

/**
 * `*` takes precedence over `~` (none), and `~` over names. An empty list, of the object or of the mesh, is the same as
 * none.
 */
export function exportsOf(
  given: readonly string[] | undefined,
  meshDefault: readonly string[] | undefined,
  namespace: string,
): Exports {
  const list = effectiveExports(given, meshDefault);
  if (list.includes('*')) return { open: true, own: true, others: [] };
  if (list.includes('~')) return { open: false, own: false, others: [] };
  const others = list.filter(target => target !== '.' && target !== namespace);
  return { open: false, own: others.length < list.length, others: [...new Set(others)].sort() };
}

/** Whether an object of the namespace `owner` is visible in another, or in its own. */
export function isVisibleIn({ open, own, others }: Exports, owner: string, namespace: string): boolean {
  return open || others.includes(namespace) || (own && owner === namespace);
}

/** As `Service.exportTo` keeps it: `*`, `~` or the names of namespaces, sorted. */
export function exportNames(
  given: readonly string[] | undefined,
  meshDefault: readonly string[] | undefined,
  namespace: string,
): readonly string[] {
  const list = effectiveExports(given, meshDefault);
  return [...new Set(list.map(target => (target === '.' ? namespace : target)))].sort();
}

function effectiveExports(
  given: readonly string[] | undefined,
  meshDefault: readonly string[] | undefined,
): readonly string[] {
  if (given !== undefined && given.length > 0) return given;
  return meshDefault === undefined || meshDefault.length === 0 ? ['*'] : meshDefault;
}
