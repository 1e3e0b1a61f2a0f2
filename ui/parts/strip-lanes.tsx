// The lanes below the bars: pushes, proxies that connect and disconnect, refusals and troubles. A lane is known by its
// place and name, so no colour has to be told from another.

import type { Bucket, Marks } from '../../src/admin/explorer/api.ts';

const LANE_PX = 11;
const MARK_PX = 7;
export const LANES_PX = 3 * LANE_PX + 3;

interface Lane {
  readonly name: string;
  readonly count: (marks: Marks) => number;
}

const LANES: readonly Lane[] = [
  { name: 'pushes', count: ({ pushes }) => pushes },
  { name: 'proxies', count: ({ connects, disconnects }) => connects + disconnects },
  { name: 'refusals', count: ({ nacks, troubles }) => nacks + troubles },
];

interface LanesProps {
  readonly buckets: readonly Bucket[];
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
          buckets.flatMap(({ marks }, i) =>
            count(marks) === 0
              ? []
              : [
                  <rect
                    key={`${name} ${i}`}
                    class={name}
                    x={i * px}
                    y={lane * LANE_PX + 2}
                    width={Math.max(2, px * 0.82)}
                    height={MARK_PX}
                  />,
                ],
          ),
        )}
      </svg>
    </>
  );
}

function total(buckets: readonly Bucket[], count: Lane['count']): number {
  return buckets.reduce((sum, { marks }) => sum + count(marks), 0);
}
