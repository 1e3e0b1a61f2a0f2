// Objects at the moment, by kind, narrowed by words.

import type { ObjectList, ObjectRow } from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useAnswer } from '../client/use-answer.ts';
import { Answer } from '../parts/answer.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';

const ROW_PX = 26;

export function ObjectNames() {
  const { at, place } = useApp();
  const { param, set, to } = useGoing();
  const answer = useAnswer<ObjectList>(urlOf('objects', { at }));
  const words = param('f') ?? '';
  return (
    <section class="object-list" aria-label="Objects">
      <div class="bar list-head">
        <input
          class="grow"
          type="search"
          placeholder="Filter, such as reviews"
          aria-label="Filter objects"
          value={words}
          onInput={event => set({ f: event.currentTarget.value })}
        />
      </div>
      <Answer of={answer} what="Listing objects">
        {({ objects }) => {
          const rows = matching(objects, words);
          if (rows.length === 0) return <p class="empty">No such object at this moment.</p>;
          return (
            <VirtualList
              label="Objects"
              rows={rows.length}
              rowPx={ROW_PX}
              chosen={rows.findIndex(({ object }) => object === place.subject)}
              onChoose={row => {
                const chosen = rows[row];
                if (chosen !== undefined) to('object', chosen.object, { f: param('f') });
              }}
              draw={row => {
                const one = rows[row];
                return one === undefined ? null : (
                  <Row key={one.object} index={row} row={one} chosen={one.object === place.subject} f={param('f')} />
                );
              }}
            />
          );
        }}
      </Answer>
    </section>
  );
}

function matching(objects: readonly ObjectRow[], words: string): readonly ObjectRow[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return objects.filter(({ object }) => wanted.every(word => object.toLowerCase().includes(word)));
}

interface RowProps {
  readonly index: number;
  readonly row: ObjectRow;
  readonly chosen: boolean;
  readonly f: string | undefined;
}

function Row({ index, row: { object, kind, namespace, name, refused }, chosen, f }: RowProps) {
  const { href } = useGoing();
  return (
    <div id={`row-${index}`} role="option" aria-selected={chosen} tabIndex={-1} class="row object-row">
      <span class="muted">{kind}</span>
      <a class="mono" href={href('object', object, { f })} title={object} tabIndex={-1}>
        {refused && <span class="danger">✕ </span>}
        {namespace === '' ? '' : `${namespace}/`}
        {name}
      </a>
    </div>
  );
}
