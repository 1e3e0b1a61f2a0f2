// Metrics of the certificate authority by istiod's names.
// Source: Istio security/pkg/server/ca/monitoring.go, security/pkg/pki/ca/monitoring.go.

import { Counter, Gauge, type Registry } from 'prom-client';
import type { Authority } from '../identity/authority.ts';
import type { CsrCount } from '../identity/csr-service.ts';

/** What a signing request came to. */
export function countIdentity(registry: Registry, underWay: () => number): (count: CsrCount) => void {
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const asked = counter('citadel_server_csr_count', 'Signing requests.');
  const unauthenticated = counter(
    'citadel_server_authentication_failure_count',
    'Signing requests without a proven identity.',
  );
  const failed = counter('citadel_server_csr_sign_err_count', 'Signing requests that failed, by error.', ['error']);
  const issued = counter('citadel_server_success_cert_issuance_count', 'Certificates issued.');
  counter('citadel_server_csr_parsing_err_count', 'Always 0: see citadel_server_csr_sign_err_count.');
  counter('citadel_server_id_extraction_err_count', 'Always 0: identities come from callers, not from requests.');
  const crowded = counter('periplus_csr_refused_busy', 'Signing requests refused because too many were under way.');
  new Gauge({
    name: 'periplus_csr_under_way',
    help: 'Signing requests under way.',
    registers: [registry],
    collect() {
      this.set(underWay());
    },
  });
  return count => {
    if (count.kind === 'asked') asked.inc();
    else if (count.kind === 'issued') issued.inc();
    else if (count.kind === 'crowded') crowded.inc();
    else if (count.kind === 'failed') failed.inc({ error: count.error });
    else unauthenticated.inc();
  };
}

/** When root and chain expire; of the bundle in use. */
export function measureAuthority(registry: Registry, authority: Authority, now: () => number): void {
  const gauge = (name: string, help: string, value: () => number | undefined): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const seconds = value();
        if (seconds !== undefined) this.set(seconds);
      },
    });
  };
  const chain = (): number | undefined => authority.bundle.chainNotAfter;
  const root = (): number => authority.bundle.rootNotAfter;
  gauge(
    'citadel_server_root_cert_expiry_timestamp',
    'When the root expires, seconds since the epoch.',
    () => root() / 1_000,
  );
  gauge('citadel_server_root_cert_expiry_seconds', 'Seconds until the root expires.', () => (root() - now()) / 1_000);
  if (chain() === undefined) return;
  gauge(
    'citadel_server_cert_chain_expiry_timestamp',
    'When the chain expires, seconds since the epoch.',
    () => (chain() ?? 0) / 1_000,
  );
  gauge(
    'citadel_server_cert_chain_expiry_seconds',
    'Seconds until the chain expires.',
    () => ((chain() ?? 0) - now()) / 1_000,
  );
}
