// What istiod 1.30.3 was measured to need for the same: 500 services with 5 endpoints each, 100 VirtualServices, 50 DestinationRules in 10
// namespaces, delta ADS, on a machine with 2 cores and a real kube-apiserver. Where several runs differ, the middle of their range.
// Noisy as any such figure: compare ratios, and measure both on one machine before drawing conclusions.

export const scenarios = [
  'signing requests',
  'cold start',
  'VirtualService change',
  'endpoint change',
  'policy change',
  'VirtualService change while all renew',
  'renewals meanwhile',
  '… and as many connect',
] as const;
export type Scenario = (typeof scenarios)[number];

export interface Measured {
  readonly seconds?: number | undefined;
  readonly p50Ms?: number | undefined;
  readonly p99Ms?: number | undefined;
  readonly cpuSeconds?: number | undefined;
  readonly rssMib?: number | undefined;
  /** The longest stall of the event loop: cold start and changes of VirtualServices. Counts as stalled while other programs run. */
  readonly stallMs?: number | undefined;
  /** The CPU of the longest turn of the event loop in that time. */
  readonly turnMs?: number | undefined;
  /** Sent. */
  readonly mib?: number | undefined;
  /** Signing requests. */
  readonly perSecond?: number | undefined;
}

type Reference = Partial<Readonly<Record<Scenario, Readonly<Record<number, Measured>>>>>;

/** By number of proxies. */
export const ISTIOD: Reference = {
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
  'policy change': {
    400: { p50Ms: 365, p99Ms: 508, cpuSeconds: 0.61, rssMib: 359, mib: 6.6 },
  },
};

/** The same over the secure port, with client certificates; its TokenReviews wait for the rate limit of its client. */
export const ISTIOD_TLS: Reference = {
  'signing requests': { 1000: { seconds: 10.7, p50Ms: 400, cpuSeconds: 2.4, perSecond: 94 } },
  'cold start': { 400: { cpuSeconds: 16.6 }, 1000: { seconds: 29.6, cpuSeconds: 40, rssMib: 1470 } },
  'VirtualService change': { 400: { p99Ms: 1235, cpuSeconds: 1.78, rssMib: 635 } },
};

/** istiod's own benchmarks of generation from scratch, on the same kind of machine: time, size of the message, resources in it. */
export interface Generated {
  readonly ms: number;
  readonly kib?: number;
  readonly resources?: number;
}
export type GeneratedType = 'clusters' | 'listeners' | 'routes';
export const GO: Readonly<Record<string, Partial<Readonly<Record<GeneratedType, Generated>>>>> = {
  http: {
    clusters: { ms: 1.33, kib: 99, resources: 105 },
    listeners: { ms: 0.12, kib: 15, resources: 3 },
    routes: { ms: 0.65, kib: 42, resources: 1 },
  },
  tcp: { clusters: { ms: 1.36, kib: 100 }, listeners: { ms: 0.81, kib: 35, resources: 103 } },
  auto: {
    clusters: { ms: 1.52, kib: 115 },
    listeners: { ms: 1.81, kib: 253, resources: 103 },
    routes: { ms: 1.51, kib: 82, resources: 101 },
  },
  virtualservice: {
    clusters: { ms: 1.11, kib: 54 },
    listeners: { ms: 0.1 },
    routes: { ms: 1.1, kib: 96 },
  },
  'telemetry-api': {
    clusters: { ms: 3.75, kib: 231, resources: 411 },
    listeners: { ms: 1.93, kib: 209 },
    routes: { ms: 1.08, kib: 81 },
  },
  'serviceentry-workloadentry': {
    clusters: { ms: 5.42, kib: 430, resources: 411 },
    listeners: { ms: 1.2, kib: 50 },
    routes: { ms: 1.17, kib: 81 },
  },
  gateways: {
    clusters: { ms: 11.4, kib: 534, resources: 1003 },
    listeners: { ms: 14.2, kib: 2355 },
    routes: { ms: 32.2, kib: 1126, resources: 1001 },
  },
  'gateways-shared': { clusters: { ms: 11.8 }, listeners: { ms: 0.04 }, routes: { ms: 90.7, kib: 5325 } },
};
