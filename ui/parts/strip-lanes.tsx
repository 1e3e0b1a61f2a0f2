// The lanes below the bars: pushes, proxies that connect and disconnect, what was refused (responses by proxies,
// objects by their rules, input that is malformed), and outages. A lane is known by its place and name, so no colour
// has to be told from another.

import type { Bucket, Marks } from '../../src/admin/explorer/api.ts';
import type { Outage } from '../../src/admin/explorer/api-questions.ts';
import { grouped } from '../model/time-text.ts';

const LANE_PX = 11;
const MARK_PX = 7;
/** An outage is never overlooked, however many buckets there are. */
const OUTAGE_PX_MIN = 5;
export const LANES_PX = 4 * LANE_PX + 3;
/** Where the lane of outages begins, from the top of the lanes. */
export const OUTAGES_PX = 3 * LANE_PX;

/** A bucket, and what of the outages began in it. */
export interface LaneBucket extends Bucket {
  readonly outages: readonly Outage[];
}

interface Lane {
  readonly name: string;
  readonly count: (marks: Marks, outages: readonly Outage[]) => number;
}

const LANES: readonly Lane[] = [
  { name: 'pushes', count: ({ pushes }) => pushes },
  { name: 'proxies', count: ({ connects, disconnects }) => connects + disconnects },
  { name: 'refused', count: ({ nacks, troubles, refusedObjects }) => nacks + troubles + refusedObjects },
  { name: 'outages', count: (_, outages) => outages.length },
];

interface LanesProps {
  readonly buckets: readonly LaneBucket[];
  readonly width: number;
  readonly left: number;
  readonly top: number;
}

export function Lanes({ buckets, width, left, top }: LanesProps) {
  const px = width / Math.max(1, buckets.length);
  return (
    <>
      {left > 0 && (
        <div class="strip-lanes">
          <span style={{ top: '22px' }}>events</span>
          {LANES.map(({ name }, i) => (
            <span key={name} style={{ top: `${top + i * LANE_PX}px` }}>
              {name}
            </span>
          ))}
        </div>
      )}
      <svg
        class="lanes"
        width={width}
        height={LANES_PX}
        style={{ marginLeft: `${left}px` }}
        role="img"
        aria-label={LANES.map(({ name, count }) => `${name}: ${total(buckets, count)}`).join(', ')}
      >
        {LANES.flatMap(({ name, count }, lane) =>
          buckets.flatMap(({ marks, outages }, i) =>
            count(marks, outages) === 0
              ? []
              : [
                  <rect
                    key={`${name} ${i}`}
                    class={name}
                    x={i * px}
                    y={lane * LANE_PX + 2}
                    width={Math.max(name === 'outages' ? OUTAGE_PX_MIN : 2, px * 0.82)}
                    height={MARK_PX}
                  />,
                ],
          ),
        )}
      </svg>
    </>
  );
}

function total(buckets: readonly LaneBucket[], count: Lane['count']): number {
  return buckets.reduce((sum, { marks, outages }) => sum + count(marks, outages), 0);
}

export function withOutages(buckets: readonly Bucket[], outages: readonly Outage[]): readonly LaneBucket[] {
  return buckets.map(bucket => ({
    ...bucket,
    outages: outages.filter(({ seq }) => seq >= bucket.from && seq <= bucket.to),
  }));
}

/** A click this near to a mark is on it. */
const MARK_PX_NEAR = 6;

/** The first outage of the mark at a place. */
export function outageNear(lanes: readonly LaneBucket[], share: number, width: number): Outage | undefined {
  const isNear = (i: number): boolean => Math.abs((i + 0.5) / lanes.length - share) * width < MARK_PX_NEAR;
  return lanes.find(({ outages }, i) => outages.length > 0 && isNear(i))?.outages[0];
}

const SYMPTOMS: Readonly<Record<string, string>> = {
  'cluster-missing': 'sent to a cluster that is not there',
  'endpoints-lost': 'without endpoints',
  'route-lost': 'without a route',
  refused: 'refused object',
  'proxy-gone': 'proxy gone',
  nack: 'refused by Envoy',
};

/** Parts of a bucket that are named. */
const NAMED_MAX = 3;

/** What a bucket has, in words: `3 events (2 Pod, 1 Receipt), 1 push, outage #112: …`. `names`: of its parts. */
export function wordsOf({ events, parts: divided, marks, outages }: LaneBucket, names: readonly string[]): string {
  const { pushes, nacks, connects, disconnects, troubles, refusedObjects } = marks;
  const parts: readonly (readonly [number, string])[] = [
    [pushes, 'pushes'],
    [nacks, 'refused by proxies'],
    [refusedObjects, 'objects refused'],
    [connects, 'connected'],
    [disconnects, 'gone'],
    [troubles, 'malformed or rejected'],
  ];
  const named = divided
    .map((count, i) => [count, names[i] ?? ''] as const)
    .filter(([count]) => count > 0)
    .sort(([a], [b]) => b - a)
    .map(([count, name]) => `${grouped(count)} ${name}`);
  const more = named.length > NAMED_MAX ? ' …' : '';
  const divisions = named.length === 0 ? '' : ` (${named.slice(0, NAMED_MAX).join(', ')}${more})`;
  const counts = parts.filter(([count]) => count > 0).map(([count, name]) => `${grouped(count)} ${name}`);
  const warnings = outages.map(({ seq, warnings: [first, ...others] }) => {
    const what = first === undefined ? '' : `: ${SYMPTOMS[first.kind] ?? first.kind}, ${first.what}`;
    return `outage #${seq}${what}${others.length === 0 ? '' : ` and ${others.length} more`}`;
  });
  const all = events === 0 ? [] : [`${grouped(events)} events${divisions}`];
  return [...all, ...counts, ...warnings].join(', ') || 'nothing';
}
