// Trust domain migration: a principal that names one domain of the mesh stands for the same principal in all of them.
// Source: Istio pilot/pkg/security/trustdomain/bundle.go (ReplaceTrustDomainAliases, replaceTrustDomains).

/** The domain that stands for the mesh's own trust domain. */
const LOCAL_DOMAIN = 'cluster.local';
/** `<domain>/ns/<namespace>/sa/<account>` */
const PRINCIPAL_PARTS = 5;

/**
 * `domains`: the mesh's own trust domain, then its aliases; empty: principals stay as they are. Each principal becomes
 * one or more.
 */
export function expandPrincipals(principals: readonly string[], domains: readonly string[]): readonly string[] {
  if (domains.length === 0) return principals;
  return principals.flatMap(principal => expandPrincipal(principal, domains));
}

function expandPrincipal(principal: string, domains: readonly string[]): readonly string[] {
  const parts = principal.split('/');
  const [domain = ''] = parts;
  if (parts.length !== PRINCIPAL_PARTS) return [principal];
  if (domain !== LOCAL_DOMAIN && !domains.some(known => alike(domain, known))) return [principal];
  const rest = principal.slice(domain.length);
  return [...new Set(domains.map(known => (isSuffixOf(domain, known) ? principal : known + rest)))];
}

/** A value of `trustDomains` that is one of the mesh's stands for all of them. */
export function expandTrustDomains(values: readonly string[], domains: readonly string[]): readonly string[] {
  const known = new Set(domains);
  const expanded = new Set<string>();
  let all = false;
  for (const value of values) {
    if (!known.has(value)) expanded.add(value);
    else if (!all) {
      for (const domain of domains) expanded.add(domain);
      all = true;
    }
  }
  return [...expanded];
}

/** Equal, or one is a pattern (`x*`, `*x`, `*`) of the other. */
function alike(a: string, b: string): boolean {
  return a === b || covers(a, b) || covers(b, a);
}

function covers(pattern: string, text: string): boolean {
  return isSuffixOf(pattern, text) || (pattern.endsWith('*') && text.startsWith(pattern.slice(0, -1)));
}

/** True if `pattern` is `*x` and the text ends with x. */
function isSuffixOf(pattern: string, text: string): boolean {
  return pattern.startsWith('*') && text.endsWith(pattern.slice(1));
}
