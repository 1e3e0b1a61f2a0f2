// A model of many replicas on one world log, run as a queue in steps of a millisecond: how many facts a second each part carries, and which
// part ends first. `npx tsx bench/scale.ts` prints the tables of docs/scale.md. What a part costs is measured elsewhere (docs/benchmarks.md) or a
// property of the network that is named here; nothing in it is random, so the tables are the same everywhere.

export interface Costs {
  /** CPU of the leader to derive a fact, seal it, write its line, append it to its mirror and fold it. */
  readonly leadUs: number;
  /** CPU of a follower to append the fact of an entry to its mirror and fold it, one at a time. */
  readonly foldUs: number;
  /** CPU of a replica that catches up: for each fact, of many that are folded at once. */
  readonly catchUpUs: number;
  /** CPU of a replica to make and encode what one endpoint change does to the resources that it serves, shared by its proxies. */
  readonly generateUs: number;
  /** CPU of a replica to send one changed resource to one proxy and to record its receipt. */
  readonly sendUs: number;
  /** Bytes of a fact in the log. */
  readonly factBytes: number;
  /** From the append of an entry to the answer of a quorum that has written it to its disks. */
  readonly quorumMs: number;
  /** What one NATS server can send, bytes a second. */
  readonly egressBytes: number;
}

export interface Fleet {
  readonly replicas: number;
  readonly proxies: number;
  /** Share of the proxies that hold the resource that a fact changes. */
  readonly concerned: number;
  readonly natsServers: number;
}

export interface Outcome {
  readonly factsPerSecond: number;
  /** Utilisation, 1 is all of it. */
  readonly leader: number;
  readonly follower: number;
  readonly egress: number;
  /** Facts of an entry, on average. */
  readonly batch: number;
  /** From the fact to its fold at a follower, milliseconds: median and 99th of 100. */
  readonly p50: number;
  readonly p99: number;
  /** Bytes of the log a day. */
  readonly bytesPerDay: number;
}

/** Seen on two cores on 2026-11-23 while other programs used them, which makes CPU times longer. */
export const COSTS: Costs = {
  leadUs: 220,
  foldUs: 195,
  catchUpUs: 50,
  generateUs: 150,
  sendUs: 25,
  factBytes: 1_500,
  quorumMs: 6,
  egressBytes: 125_000_000,
};

export const FLEET: Fleet = { replicas: 100, proxies: 200_000, concerned: 0.005, natsServers: 3 };

const SECONDS = 20;
const US_PER_MS = 1_000;
const DAY_S = 86_400;
/** A debounced push takes at most one change of a resource in this time to a proxy. */
const DEBOUNCE_MS = 100;

/** Facts come evenly; one entry is under way at a time, and what comes meanwhile is the next. */
export function simulate(rate: number, fleet: Fleet = FLEET, costs: Costs = COSTS): Outcome {
  const perProxy = fleet.proxies / fleet.replicas;
  // Endpoint changes of one resource within the debounce time are sent once.
  const sendsPerFact = Math.min(perProxy * fleet.concerned, (perProxy * 1_000) / DEBOUNCE_MS / Math.max(1, rate));
  const serveUs = costs.generateUs + costs.sendUs * sendsPerFact;
  const followerUs = costs.foldUs + serveUs;
  const copies = fleet.replicas + fleet.natsServers - 1;
  const followers = Math.ceil(copies / fleet.natsServers);
  const wire = costs.factBytes * followers;
  const waits: number[] = [];
  let waiting: number[] = [];
  let due = 0;
  let entryUntil = 0;
  let underWay: number[] = [];
  let folded = 0;
  let entries = 0;
  let written = 0;
  let followerFree = 0;
  for (let now = 0; now < SECONDS * 1_000; now++) {
    for (due += rate / 1_000; due >= 1; due--) waiting.push(now);
    if (now >= entryUntil && underWay.length > 0) {
      // Egress and fold of the entry at a follower, one after the other.
      const arrives = now + (underWay.length * wire * 1_000) / costs.egressBytes;
      followerFree = Math.max(followerFree, arrives) + (underWay.length * followerUs) / US_PER_MS;
      for (const since of underWay) waits.push(followerFree - since);
      folded += underWay.length;
      underWay = [];
    }
    if (underWay.length === 0 && waiting.length > 0) {
      underWay = waiting;
      waiting = [];
      entries++;
      written += underWay.length;
      entryUntil = now + costs.quorumMs + (underWay.length * costs.leadUs) / US_PER_MS;
    }
  }
  waits.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(waits[Math.floor(waits.length * share)] ?? 0);
  return {
    factsPerSecond: rate,
    leader: (rate * (costs.leadUs + serveUs)) / 1e6,
    follower: (rate * followerUs) / 1e6,
    egress: (rate * wire) / costs.egressBytes,
    batch: folded === 0 ? 0 : written / entries,
    p50: at(0.5),
    p99: at(0.99),
    bytesPerDay: rate * costs.factBytes * DAY_S,
  };
}

/** Seconds until a new replica without a mirror has folded the log, while facts go on coming. */
export function catchUpSeconds(facts: number, rate: number, costs: Costs = COSTS): number {
  const perSecond = Math.min(1e6 / costs.catchUpUs, costs.egressBytes / costs.factBytes);
  return perSecond <= rate ? Number.POSITIVE_INFINITY : facts / (perSecond - rate);
}

/** The highest rate at which no part is used up. */
export function breaksAt(fleet: Fleet = FLEET, costs: Costs = COSTS): { readonly rate: number; readonly part: string } {
  for (let rate = 100; ; rate += 100) {
    const { leader, egress } = simulate(rate, fleet, costs);
    if (leader >= 1) return { rate, part: 'CPU of the leader: it folds and serves beside writing' };
    if (egress >= 1) return { rate, part: 'network of the NATS servers' };
  }
}

function row(cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (process.argv[1] === import.meta.filename || process.argv[1]?.endsWith('bench/scale.ts') === true) {
  print(row(['facts/s', 'leader', 'follower', 'NATS egress', 'facts an entry', 'p50', 'p99', 'log a day']));
  print(row(Array.from({ length: 8 }, () => '---')));
  for (const rate of [10, 100, 500, 1_000, 2_000, 3_000]) {
    const made = simulate(rate);
    const gigabytes = `${(made.bytesPerDay / 1e9).toFixed(1)} GB`;
    const shares = [made.leader, made.follower, made.egress].map(percent);
    print(row([rate, ...shares, made.batch.toFixed(1), `${made.p50} ms`, `${made.p99} ms`, gigabytes]));
  }
  const { rate, part } = breaksAt();
  print(`\nfirst used up, at ${rate} facts/s: ${part}`);
  print(row(['replicas', 'used up at', 'first']));
  print(row(['---', '---', '---']));
  for (const replicas of [3, 10, 100, 300, 1_000]) {
    const found = breaksAt({ ...FLEET, replicas });
    print(row([replicas, `${found.rate} facts/s`, found.part]));
  }
  print(row(['facts in the log', 'catch-up at 100 facts/s']));
  print(row(['---', '---']));
  for (const facts of [100_000, 1_000_000, 10_000_000]) {
    print(row([facts.toLocaleString('en'), `${Math.round(catchUpSeconds(facts, 100))} s`]));
  }
}
