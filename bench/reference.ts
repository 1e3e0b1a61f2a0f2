// What istiod 1.30.3 was measured to need for the same: 500 services with 5 endpoints each, 100 VirtualServices, 50 DestinationRules in 10
// namespaces, delta ADS, on a machine with 2 cores and a real kube-apiserver. Where several runs differ, the middle of their range.
// Noisy as any such figure: compare ratios, and measure both on one machine before drawing conclusions.

export const scenarios = ['cold start', 'VirtualService change', 'endpoint change'] as const;
export type Scenario = (typeof scenarios)[number];

export interface Measured {
  readonly seconds?: number | undefined;
  readonly p50Ms?: number | undefined;
  readonly p99Ms?: number | undefined;
  readonly cpuSeconds?: number | undefined;
  readonly rssMib?: number | undefined;
  /** Sent. */
  readonly mib?: number | undefined;
}

/** By number of proxies. */
export const ISTIOD: Readonly<Record<Scenario, Readonly<Record<number, Measured>>>> = {
  'cold start': {
    100: { seconds: 4.4, cpuSeconds: 3.9, rssMib: 318, mib: 125 },
    400: { seconds: 12.4, cpuSeconds: 15.6, rssMib: 569, mib: 502 },
    1000: { seconds: 31, cpuSeconds: 35.5, rssMib: 1079, mib: 1280 },
  },
  'VirtualService change': {
    100: { p50Ms: 460, p99Ms: 550, cpuSeconds: 0.5, mib: 31 },
    400: { p50Ms: 743, p99Ms: 1240, cpuSeconds: 1.7, rssMib: 657, mib: 125 },
    1000: { p50Ms: 1950, p99Ms: 3800, cpuSeconds: 4.5, rssMib: 1123, mib: 312 },
  },
  'endpoint change': {
    100: { p99Ms: 129, cpuSeconds: 0.02 },
    400: { p99Ms: 181, cpuSeconds: 0.04 },
    1000: { p99Ms: 198, cpuSeconds: 0.12, mib: 0.5 },
  },
};
