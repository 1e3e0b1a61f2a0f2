// Kinds, sources, managers and namespaces of the journal's events, each with its number; pressed ones filter.

import type { Count } from '../../src/admin/explorer/api.ts';
import { useApp, useGoing } from '../app-state.ts';
import { namesIn, toggled } from '../model/filters.ts';
import { grouped } from '../model/time-text.ts';

const SHOWN = 8;

export function Facets() {
  const { info, place } = useApp();
  const groups: readonly (readonly [string, string, readonly Count[]])[] = [
    ['Kind', 'kind', info.kinds],
    ['Manager', 'manager', info.managers],
    ['Namespace', 'ns', info.namespaces],
    ['Source', 'source', info.sources],
  ];
  const pressed = groups.filter(([, name]) => place.params[name] !== undefined).length;
  return (
    <section class="facets" aria-label="Filter">
      <details open={matchMedia('(min-width: 761px)').matches}>
        <summary class="narrow-only">Filter{pressed === 0 ? '' : ` (${pressed})`}</summary>
        {groups
          .filter(([, , counts]) => counts.length > 0)
          .map(([title, name, counts]) => (
            <Facet key={name} title={title} name={name} counts={counts} />
          ))}
      </details>
    </section>
  );
}

interface FacetProps {
  readonly title: string;
  readonly name: string;
  readonly counts: readonly Count[];
}

function Facet({ title, name, counts }: FacetProps) {
  const { place } = useApp();
  const { set } = useGoing();
  const chosen = namesIn(place.params[name]);
  const named = counts.filter(count => count.name !== '');
  const shown = named.filter((count, i) => i < SHOWN || chosen.includes(count.name));
  const rest = named.filter(count => !shown.includes(count));
  const button = ({ name: value, events }: Count) => (
    <button
      key={value}
      type="button"
      class="facet"
      aria-pressed={chosen.includes(value)}
      onClick={() => set({ [name]: toggled(place.params[name], value) })}
    >
      <span class="clip" title={value}>
        {value}
      </span>
      <span class="muted count">{grouped(events)}</span>
    </button>
  );
  return (
    <div class="facet-group">
      <h3>{title}</h3>
      {shown.map(button)}
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more</summary>
          {rest.map(button)}
        </details>
      )}
    </div>
  );
}
