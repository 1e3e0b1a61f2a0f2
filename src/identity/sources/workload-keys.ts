// Private keys of the certificates that are delivered over ADS: in memory, by the fingerprint of their certificate, and
// nowhere else.
//
// A key is here before the certificate is recorded, and stays until a later certificate of its account has been
// recorded.

export class WorkloadKeys {
  readonly #keys = new Map<string, string>();

  /** PEM; undefined: it is not here. */
  of(fingerprint: string): string | undefined {
    return this.#keys.get(fingerprint);
  }

  hold(fingerprint: string, key: string): void {
    this.#keys.set(fingerprint, key);
  }

  drop(fingerprint: string): void {
    this.#keys.delete(fingerprint);
  }
}
