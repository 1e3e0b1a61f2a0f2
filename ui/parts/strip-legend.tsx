// What the colours of the strip's bars mean, and by what they are divided. A name filters the events by it.

import type { Density } from '../../src/admin/explorer/api.ts';
import { useGoing } from '../app-state.ts';
import { colourOf, isFilter, partsOf, SPLITS, splitNamed } from '../model/density-parts.ts';
import { namesIn, toggled } from '../model/filters.ts';

export function StripLegend({ density }: { readonly density: Density }) {
  const { param, set } = useGoing();
  const { split, filter } = splitNamed(param('bars'));
  const chosen = namesIn(param(filter));
  const { names } = partsOf(density);
  return (
    <div class="strip-legend">
      <label>
        <span class="muted">bars by</span>{' '}
        <select
          value={split}
          onChange={event =>
            set({ bars: event.currentTarget.value === 'kind' ? undefined : event.currentTarget.value })
          }
        >
          {SPLITS.map(one => (
            <option key={one.split} value={one.split}>
              {one.title}
            </option>
          ))}
        </select>
      </label>
      {names.map((name, i) => (
        <button
          key={name}
          type="button"
          class="part"
          disabled={!isFilter(name)}
          aria-pressed={chosen.includes(name)}
          title={isFilter(name) ? `Only events of ${name}` : name}
          onClick={() => set({ [filter]: toggled(param(filter), name) })}
        >
          <span class={`swatch part-${colourOf(names, i)}`} />
          <span class="clip">{name}</span>
        </button>
      ))}
    </div>
  );
}
