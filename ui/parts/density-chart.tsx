// The bars of the strip, each divided into its parts. Heights are square roots of counts, so that a start with
// thousands of objects does not flatten the single change that matters; the parts divide the height as they divide the
// events. The counts themselves are in the hint under the pointer.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { Density } from '../../src/admin/explorer/api.ts';
import { colourOf, type Parts, partsOf } from '../model/density-parts.ts';
import { ticksOf } from '../model/strip.ts';

const TICK_PX = 90;
/** A label nearer to an edge would be cut. */
const EDGE_PX = 24;
const AXIS_PX = 18;

interface DensityChartProps {
  readonly density: Density;
  readonly width: number;
  readonly left: number;
  readonly height: number;
}

export function DensityChart({ density, width, left, height }: DensityChartProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null || width === 0) return undefined;
    const parts = partsOf(density);
    const options = optionsOf(density, parts.names, width, left, height);
    const chart = new uPlot(options, dataOf(density, parts), place.current);
    return () => chart.destroy();
  }, [density, width, left, height]);
  return <div ref={place} style={{ height: `${height}px` }} aria-hidden="true" />;
}

/** The last part first and as high as the bar: the parts below are drawn over it, the first one last. */
function dataOf({ buckets }: Density, { names, counts }: Parts): uPlot.AlignedData {
  const tops = names.map((_, part) =>
    buckets.map(({ events }, i) => {
      const below = (counts[i] ?? []).slice(0, part + 1).reduce((total, count) => total + count, 0);
      return events === 0 ? 0 : (Math.sqrt(events) * below) / events;
    }),
  );
  return [buckets.map((_, i) => i), ...tops.reverse()];
}

function optionsOf(
  density: Density,
  names: readonly string[],
  width: number,
  left: number,
  height: number,
): uPlot.Options {
  const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const count = density.buckets.length;
  const edge = EDGE_PX / Math.max(1, width);
  const ticks = ticksOf(density, Math.max(2, Math.floor(width / TICK_PX))).filter(
    ({ share }) => share > edge && share < 1 - edge,
  );
  return {
    width: width + left,
    height,
    padding: [2, 0, 0, left],
    legend: { show: false },
    cursor: { show: false },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    scales: {
      x: { time: false, range: () => [0, count] },
      y: { range: (_, __, max) => [0, Math.max(1, max)] },
    },
    axes: [
      {
        size: AXIS_PX,
        gap: 2,
        stroke: colour('--muted'),
        font: `11px ${colour('--sans')}`,
        grid: { stroke: colour('--line'), width: 1 },
        ticks: { show: false },
        splits: () => ticks.map(({ share }) => share * count),
        values: () => ticks.map(({ text }) => text),
      },
      { show: false },
    ],
    series: [
      {},
      ...names.map((_, i) => ({
        fill: colour(`--part-${colourOf(names, names.length - 1 - i)}`),
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars?.({ size: [0.82], align: 1 }) ?? (() => null),
      })),
    ],
  };
}
