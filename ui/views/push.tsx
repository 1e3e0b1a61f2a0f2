// Pushes: what was sent, why, how large, to whom, who refused it; and how one event reached the proxies.

import type { PushRow } from '../../src/admin/explorer/api.ts';
import type { Nack, Push, PushPage } from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useAnswer } from '../client/use-answer.ts';
import { useLiveAnswer } from '../client/use-live-answer.ts';
import { numberOf } from '../model/location.ts';
import { clockTime, counted, fullTime, grouped } from '../model/time-text.ts';
import { Answer } from '../parts/answer.tsx';
import { shortType } from '../parts/change-classes.tsx';
import { Changes } from '../parts/changes.tsx';
import { EventLink, ObjectLink } from '../parts/links.tsx';
import { ConvergencePanel } from './convergence.tsx';
import { SlowPanel } from './slow-proxies.tsx';

const LIMIT = 200;

export function PushView() {
  const { place } = useApp();
  const { href } = useGoing();
  const { subject } = place;
  return (
    <main class={`view columns push ${subject === '' ? '' : 'with-object'}`}>
      <PushList chosen={numberOf(subject)} />
      {subject === '' ? (
        <section class="page wide-only">
          <SlowPanel />
        </section>
      ) : (
        <section class="page" key={subject}>
          <a class="narrow-only" href={href('push')}>
            All pushes
          </a>
          <Subject subject={subject} />
        </section>
      )}
    </main>
  );
}

/** `N`: a push; `event/N`: what became of an event; `nack/N`: a refusal; `slow`: the slowest proxies. */
function Subject({ subject }: { readonly subject: string }) {
  if (subject === 'slow') return <SlowPanel />;
  const [kind = '', rest] = subject.includes('/') ? subject.split('/') : ['push', subject];
  const seq = numberOf(rest);
  if (seq === undefined) return <p class="empty">No such push.</p>;
  if (kind === 'event') return <ConvergencePanel seq={seq} />;
  return kind === 'nack' ? <OneNack seq={seq} /> : <OnePush seq={seq} />;
}

function PushList({ chosen }: { readonly chosen: number | undefined }) {
  const { at, from } = useApp();
  const { set, param, href } = useGoing();
  const before = numberOf(param('before'));
  const url = urlOf('pushes', { from, to: at, before, limit: LIMIT });
  const answer = useAnswer<PushPage>(url);
  return (
    <section class="push-list" aria-label="Pushes">
      <Answer of={answer} what="Listing pushes">
        {({ pushes, earlier }) => (
          <>
            <p class="list-head muted">
              {pushes.length === 0 ? 'No push' : 'Newest first'}{' '}
              {from === undefined ? `up to #${at}` : `from #${from} to #${at}`} ·{' '}
              <a href={href('push', 'slow')}>slowest proxies</a>
            </p>
            {pushes.map(push => (
              <Row
                key={push.seq}
                push={push}
                chosen={push.seq === chosen}
                href={href('push', String(push.seq), { before: param('before') })}
              />
            ))}
            <p class="bar list-head">
              {before !== undefined && (
                <button type="button" onClick={() => set({ before: undefined })}>
                  Newest
                </button>
              )}
              {earlier && (
                <button type="button" onClick={() => set({ before: String(pushes.at(-1)?.seq ?? '') })}>
                  Earlier
                </button>
              )}
            </p>
          </>
        )}
      </Answer>
    </section>
  );
}

interface RowProps {
  readonly push: PushRow;
  readonly chosen: boolean;
  readonly href: string;
}

function Row({ push: { seq, time, type, connections, resources, nacks }, chosen, href }: RowProps) {
  return (
    <a class="row push-row" href={href} aria-current={chosen ? 'true' : undefined}>
      <span class="mono muted">#{seq}</span>
      <span class="mono">{clockTime(time)}</span>
      <span>{type}</span>
      <span class="muted">
        {resources} to {connections.length}
      </span>
      <span class="danger">{nacks.length > 0 && `✕ ${nacks.length}`}</span>
    </a>
  );
}

const timeOf = ({ time }: Push): number => time;

function OnePush({ seq }: { readonly seq: number }) {
  const answer = useLiveAnswer<Push>(urlOf('push', { seq }), timeOf, false);
  return (
    <Answer of={answer} what="Making the push again">
      {push => (
        <>
          <h1>
            Push of {shortType(push.typeUrl)} <span class="muted">#{push.seq}</span>
          </h1>
          <dl class="facts">
            <dt>Sent</dt>
            <dd class="mono">{fullTime(push.time)}</dd>
            <dt>Made from</dt>
            <dd>
              the state at <EventLink seq={push.stateSeq} />
              {push.previousStateSeq !== undefined && (
                <>
                  ; the one before was of <EventLink seq={push.previousStateSeq} />
                </>
              )}
            </dd>
            <dt>Size</dt>
            <dd>
              {counted(push.resources.length, 'resource')} new in it, {grouped(push.bytes)} bytes; {push.unchanged} as
              before
            </dd>
            <dt>To</dt>
            <dd class="mono">{push.connections.join(', ')}</dd>
          </dl>
          {push.nacks.map(({ seq: nack, ...refusal }) => (
            <Refusal key={nack} seq={nack} {...refusal} />
          ))}
          <Causes push={push} />
          <section class="panel">
            <h2>New in it</h2>
            {push.resources.length === 0 && <p class="muted">Nothing.</p>}
            {push.resources.map(({ name, change, changes, because }) => (
              <details key={name} class="version" open={push.resources.length <= 3}>
                <summary>
                  {change} <span class="mono break">{name}</span>
                </summary>
                <div class="version-body">
                  {because.length > 0 && (
                    <p>
                      because of{' '}
                      {because.map(object => (
                        <span key={object}>
                          <ObjectLink object={object} at={push.stateSeq} />{' '}
                        </span>
                      ))}
                    </p>
                  )}
                  {change === 'changed' && <Changes changes={changes} />}
                </div>
              </details>
            ))}
          </section>
        </>
      )}
    </Answer>
  );
}

/** Those whose object made what is new in the push; the others happened meanwhile, and are folded. */
function Causes({ push: { causes, resources } }: { readonly push: Pick<Push, 'causes' | 'resources'> }) {
  if (causes.length === 0) return null;
  const made = new Set(resources.flatMap(({ because }) => because));
  const decisive = causes.filter(({ object }) => made.has(object));
  const shown = decisive.length === 0 ? causes : decisive;
  const rest = causes.filter(cause => !shown.includes(cause));
  return (
    <section class="panel scroll">
      <h2>Events behind it</h2>
      <CauseTable causes={shown} />
      {rest.length > 0 && (
        <details>
          <summary>{counted(rest.length, 'other event')} since the push before, without effect on it</summary>
          <CauseTable causes={rest} />
        </details>
      )}
    </section>
  );
}

function CauseTable({ causes }: Pick<Push, 'causes'>) {
  return (
    <table class="dense fit">
      <tbody>
        {causes.map(({ seq, time, kind, object, manager, reasons }) => (
          <tr key={seq}>
            <td>
              <EventLink seq={seq} time={time} />
            </td>
            <td>{kind}</td>
            <td>{object !== '' && <ObjectLink object={object} at={seq} />}</td>
            <td>{manager !== '' && <span class="tag">{manager}</span>}</td>
            <td class="muted">{reasons.join(', ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface RefusalProps {
  readonly seq: number;
  readonly connection: string;
  readonly message: string;
  readonly reason: string;
}

function Refusal({ seq, connection, message, reason }: RefusalProps) {
  const { href } = useGoing();
  return (
    <div class="note danger">
      <a href={href('push', `nack/${seq}`)}>Refused</a> by <span class="mono">{connection}</span>
      <EnvoysWords message={message} reason={reason} />
    </div>
  );
}

/** The reason first: it may stand at the end of a resource that Envoy prints. */
function EnvoysWords({ message, reason }: Pick<RefusalProps, 'message' | 'reason'>) {
  return (
    <>
      <pre class="wrap">{reason}</pre>
      {reason !== message && (
        <details>
          <summary>The whole message</summary>
          <pre class="wrap">{message}</pre>
        </details>
      )}
    </>
  );
}

function OneNack({ seq }: { readonly seq: number }) {
  const { href } = useGoing();
  const answer = useAnswer<Nack>(urlOf('nack', { seq }), false);
  return (
    <Answer of={answer} what="Looking for the push that was refused">
      {({ connection, typeUrl, message, reason, blamed, time, push }) => (
        <>
          <h1>
            Refusal of {shortType(typeUrl)} <span class="muted">#{seq}</span>
          </h1>
          <p class="muted">
            {fullTime(time)}, by <span class="mono">{connection}</span>, in Envoy's words:
          </p>
          <div class="note danger">
            <EnvoysWords message={message} reason={reason} />
          </div>
          {blamed.length > 0 && (
            <p>
              It names <span class="mono break">{blamed.join(', ')}</span>.
            </p>
          )}
          {push !== undefined && (
            <>
              <p>
                <a href={href('push', String(push.seq))}>The push that was refused, #{push.seq}</a>
              </p>
              <Causes push={push} />
            </>
          )}
        </>
      )}
    </Answer>
  );
}
