// Why something of a proxy is as it is, or is not there: the objects and fields that decide it, the events that brought
// them, who wrote them.

import type { Cause, LastChange, Why } from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useAnswer } from '../client/use-answer.ts';
import { clockTime } from '../model/time-text.ts';
import { Answer } from '../parts/answer.tsx';
import { valueText } from '../parts/changes.tsx';
import { EventLink, ObjectLink } from '../parts/links.tsx';

const PATHS_SHOWN = 4;
const LISTED = 12;

/** `subject`: `cluster NAME`, `listener NAME`, `virtual-host HOST ROUTE`, `endpoint ADDRESS CLUSTER`. */
export function WhyPanel({ proxy, subject }: { readonly proxy: string; readonly subject: string }) {
  const { at } = useApp();
  const { set } = useGoing();
  const [kind = '', name = '', more] = subject.split(' ');
  const extra = kind === 'virtual-host' ? { route: more } : kind === 'endpoint' ? { cluster: more } : {};
  const answer = useAnswer<Why>(urlOf('why', { proxy, at, kind, name, ...extra }), false);
  return (
    <aside class="page why" aria-label="Why">
      <div class="title">
        <h1>Why?</h1>
        <button type="button" class="link" onClick={() => set({ why: undefined })}>
          close
        </button>
      </div>
      <p class="mono break">{subject}</p>
      <Answer of={answer} what="Trying each object and field">
        {why => (why.reasons !== undefined ? <Absent why={why} /> : <Present why={why} />)}
      </Answer>
    </aside>
  );
}

function Absent({ why: { reasons = [], goneSince, nearest = [], missed } }: { readonly why: Why }) {
  return (
    <>
      <p>The proxy does not have it, because</p>
      {reasons.map(({ why, lastChange, proven }) => (
        <section key={why} class="panel">
          <p>
            {why}
            {proven && <span class="muted"> (without that it would be there)</span>}
          </p>
          {lastChange !== undefined && <Change change={lastChange} />}
        </section>
      ))}
      {goneSince !== undefined && (
        <section class="panel">
          <h2>It was there until</h2>
          <p>
            <EventLink seq={goneSince.seq} time={goneSince.time} />{' '}
            {goneSince.object !== '' && <ObjectLink object={goneSince.object} at={goneSince.seq} />}
          </p>
          {goneSince.lastChange !== undefined && <Change change={goneSince.lastChange} />}
        </section>
      )}
      {nearest.length > 0 && (
        <p class="muted">
          It has: <span class="mono break">{nearest.join(', ')}</span>
        </p>
      )}
      <Missed missed={missed} />
    </>
  );
}

function Present({ why }: { readonly why: Why }) {
  const { causes = [], jointly = [], readOnly = [], missed, untried = 0 } = why;
  return (
    <>
      {causes.length === 0 && <p class="muted">No single object decides anything of it.</p>}
      {causes.map(cause => (
        <CauseOf key={cause.lastChange.object} cause={cause} />
      ))}
      {jointly.map(({ objects, decides }) => (
        <section key={objects.join()} class="panel">
          <p class="muted">
            Any one of these would do{decides === 'all' ? ', without all of them it would not be there' : ''}:
          </p>
          {objects.slice(0, LISTED).map(object => (
            <p key={object}>
              <ObjectLink object={object} />
            </p>
          ))}
          {objects.length > LISTED && <p class="muted">and {objects.length - LISTED} more</p>}
        </section>
      ))}
      {readOnly.length > 0 && (
        <details>
          <summary>{readOnly.length} objects were read and change nothing</summary>
          {readOnly.map(object => (
            <p key={object}>
              <ObjectLink object={object} />
            </p>
          ))}
        </details>
      )}
      {untried > 0 && <p class="muted">{untried} more objects were read and not tried.</p>}
      <Missed missed={missed} />
    </>
  );
}

function CauseOf({ cause: { lastChange, decides, paths, fields } }: { readonly cause: Cause }) {
  return (
    <section class="panel">
      <p>
        <ObjectLink object={lastChange.object} />{' '}
        <span class="muted">{decides === 'all' ? 'without it there would be none' : 'decides part of it'}</span>
      </p>
      <Change change={lastChange} />
      {decides === 'part' && <Paths paths={paths} />}
      {fields.length > 0 && (
        <div class="fields">
          {fields.map(({ field, value, decides: decided }) => (
            <div key={field}>
              <div class="mono break">
                {field} = {valueText(value)}
              </div>
              <Paths paths={decided} />
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

function Paths({ paths }: { readonly paths: readonly string[] }) {
  if (paths.length === 0) return null;
  const shown = paths.slice(0, PATHS_SHOWN).filter(Boolean);
  return (
    <p class="mono muted break">
      → {shown.join(', ')}
      {paths.length > PATHS_SHOWN && ` and ${paths.length - PATHS_SHOWN} more`}
    </p>
  );
}

export function Change({ change }: { readonly change: LastChange }) {
  const { seq, time, source, origin, manager, refused } = change;
  return (
    <>
      <p class="muted">
        <EventLink seq={seq} /> {time !== undefined && clockTime(time)} {manager !== '' && `by ${manager}, `}
        {source} {origin}
      </p>
      {refused !== undefined && (
        <p class="danger">
          A newer version, <EventLink seq={refused.seq} />, was refused: {refused.problems.join('; ')}
        </p>
      )}
    </>
  );
}

function Missed({ missed }: { readonly missed: readonly string[] }) {
  if (missed.length === 0) return null;
  return (
    <details>
      <summary>{missed.length} look-ups found nothing</summary>
      <ul class="mono break muted">
        {missed.map(name => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </details>
  );
}
