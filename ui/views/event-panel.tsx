// One event in full: what it says, what differs from the version before, the pushes it caused.

import type { EventDetail } from '../../src/admin/explorer/api.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useLiveAnswer } from '../client/use-live-answer.ts';
import { duration, fullTime } from '../model/time-text.ts';
import { Answer } from '../parts/answer.tsx';
import { Changes } from '../parts/changes.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { EventLink, ObjectLink } from '../parts/links.tsx';

const timeOf = ({ row }: EventDetail): number => row.time;

export function EventPanel({ seq }: { readonly seq: number }) {
  const { set } = useGoing();
  const answer = useLiveAnswer<EventDetail>(urlOf('event', { seq }), timeOf);
  return (
    <div class={`page ${answer.stale ? 'stale' : ''}`}>
      <button type="button" class="narrow-only" onClick={() => set({ event: undefined })}>
        Back to the list
      </button>
      <Answer of={answer} what="Reading the event">
        {detail => <Detail detail={detail} />}
      </Answer>
    </div>
  );
}

function Detail({ detail }: { readonly detail: EventDetail }) {
  const { head } = useApp();
  const { href } = useGoing();
  const { row, object, pushes, event } = detail;
  const { seq, time, kind, source, manager } = row;
  return (
    <>
      <div class="title">
        <h1>
          {kind} <span class="muted">#{seq}</span>
        </h1>
      </div>
      {object !== undefined && <ObjectLink object={object.object} at={seq} />}
      <dl class="facts">
        <dt>Time</dt>
        <dd class="mono">
          {fullTime(time)}{' '}
          <span class="muted">{head.time > time && `${duration(head.time - time)} before the newest`}</span>
        </dd>
        <dt>Source</dt>
        <dd>{source}</dd>
        {manager !== '' && (
          <>
            <dt>Written by</dt>
            <dd>
              <strong>{manager}</strong>
            </dd>
          </>
        )}
      </dl>
      <p class="bar">
        <a href={href('what-if', '', { from: String(Math.max(0, seq - 1)), at: String(seq) })}>
          What it changed for proxies
        </a>
        <a href={href('push', `event/${seq}`)}>How it reached them</a>
      </p>
      <Words event={event} />
      {object !== undefined && <ObjectPart object={object} seq={seq} />}
      {pushes.length > 0 && <Pushes detail={detail} />}
      <details class="panel">
        <summary>The event as it is recorded</summary>
        <JsonTree value={event} />
      </details>
    </>
  );
}

/** What a proxy, a file or our own check says is wrong. */
function Words({ event }: { readonly event: EventDetail['event'] }) {
  const { message, reasons } = (event ?? {}) as { readonly message?: unknown; readonly reasons?: unknown };
  const words = [message, ...(Array.isArray(reasons) ? reasons : [])].filter(one => typeof one === 'string');
  if (words.length === 0) return null;
  return (
    <div class="note danger">
      {words.map(one => (
        <p key={one} class="break">
          {one}
        </p>
      ))}
    </div>
  );
}

function ObjectPart({ object, seq }: { readonly object: NonNullable<EventDetail['object']>; readonly seq: number }) {
  const { earlier, later, changes, problems, before, after } = object;
  return (
    <>
      {problems.length > 0 && (
        <div class="note danger">
          Refused; the version before stays in force.
          {problems.map(problem => (
            <p key={problem}>{problem}</p>
          ))}
        </div>
      )}
      <section class="panel">
        <h2>{before === undefined ? 'New object' : after === undefined ? 'Deleted' : `Differs from #${before.seq}`}</h2>
        {before !== undefined && after !== undefined && <Changes changes={changes} />}
        <details open={before === undefined}>
          <summary>YAML at #{seq}</summary>
          <pre>{(after ?? before)?.yaml}</pre>
        </details>
        {(earlier !== undefined || later !== undefined) && (
          <p class="bar muted">
            {earlier !== undefined && (
              <span>
                version before <EventLink seq={earlier} />
              </span>
            )}
            {later !== undefined && (
              <span>
                next version <EventLink seq={later} />
              </span>
            )}
          </p>
        )}
      </section>
    </>
  );
}

function Pushes({ detail: { pushes, row } }: { readonly detail: EventDetail }) {
  const { href } = useGoing();
  return (
    <section class="panel">
      <h2>Pushes</h2>
      <table>
        <thead>
          <tr>
            <th>Push</th>
            <th>Type</th>
            <th class="number">After</th>
            <th class="number">Proxies</th>
            <th class="number">Refused</th>
          </tr>
        </thead>
        <tbody>
          {pushes.map(({ seq, type, time, connections, nacks }) => (
            <tr key={seq}>
              <td>
                <a class="mono" href={href('push', String(seq))}>
                  #{seq}
                </a>
              </td>
              <td>{type}</td>
              <td class="number">{duration(Math.max(0, time - row.time))}</td>
              <td class="number">{connections.length}</td>
              <td class={`number ${nacks.length > 0 ? 'danger' : 'muted'}`}>{nacks.length}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
