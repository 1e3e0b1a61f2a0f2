// What is counted of machines that register themselves, under istiod's names (Istio
// pilot/pkg/autoregistration/controller.go).

import { Counter, type Registry } from 'prom-client';

const HELP = {
  deletes: 'WorkloadEntries that were removed because their machine did not come back.',
  errors: 'Machines that were not registered.',
  success: 'WorkloadEntries that were made for machines.',
  unregister: 'Machines that left.',
  updates: 'Machines that came back to their WorkloadEntry.',
} as const;

export class RegistrationCounts {
  readonly #counters: ReadonlyMap<string, Counter>;

  constructor(registry: Registry) {
    this.#counters = new Map(
      Object.entries(HELP).map(([what, help]) => [
        what,
        new Counter({ name: `auto_registration_${what}_total`, help, registers: [registry] }),
      ]),
    );
  }

  count(what: keyof typeof HELP): void {
    this.#counters.get(what)?.inc();
  }
}
