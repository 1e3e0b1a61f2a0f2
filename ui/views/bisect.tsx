// Find the cause: everything that broke in a range, each with the event after which it was; or the first event after
// which one condition holds. The range is the strip's: "it works here" to "it is broken there".

import { useEffect, useState } from 'preact/hooks';
import type { ProxyList } from '../../src/admin/explorer/api.ts';
import type { BisectAnswer, IncidentAnswer, IncidentSymptom } from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { ApiFault, ask, urlOf } from '../client/api-client.ts';
import { useAnswer } from '../client/use-answer.ts';
import { counted, fullTime } from '../model/time-text.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { EventLink, ProxyLink } from '../parts/links.tsx';
import { DifferencePanel } from './what-if.tsx';

interface Condition {
  readonly name: string;
  readonly title: string;
  /** Undefined: none. */
  readonly value?: { readonly label: string; readonly example: string; readonly needed: boolean };
}

const CONDITIONS: readonly Condition[] = [
  {
    name: 'cluster-missing',
    title: 'routes to a cluster that it does not have',
    value: { label: 'Part of its name', example: 'reviews', needed: false },
  },
  {
    name: 'endpoints-lost',
    title: 'has no endpoint in the cluster',
    value: { label: 'Cluster', example: 'outbound|9080||reviews.shop.svc.cluster.local', needed: true },
  },
  {
    name: 'route-lost',
    title: 'has no route for the host',
    value: { label: 'Host', example: 'reviews', needed: true },
  },
  {
    name: 'resource-changed',
    title: 'has another version of the resource',
    value: { label: 'Resource', example: 'route/9080', needed: true },
  },
  { name: 'nack', title: 'refuses what it is sent' },
];

export function BisectView() {
  const { from, at, info } = useApp();
  const { param, set } = useGoing();
  const start = from ?? info.first.seq;
  const run = param('run');
  return (
    <main class="view">
      <div class="page">
        <p>
          It works at <EventLink seq={start} /> and is broken at <EventLink seq={at} />.{' '}
          <span class="muted">Drag on the strip for another range.</span>
        </p>
        <section class="panel">
          <h2>What broke?</h2>
          <p class="muted">
            Routes to clusters that are not there, clusters without endpoints, lost hosts, refused objects and pushes,
            gone proxies: each with the event after which it was so.
          </p>
          <button type="button" class="primary" onClick={() => set({ run: 'incident' }, 'push')}>
            Look through the range
          </button>
        </section>
        <ConditionForm />
        {run === 'incident' && <Incident from={start} to={at} />}
        {run === 'bisect' && <Bisect from={start} to={at} />}
      </div>
    </main>
  );
}

function ConditionForm() {
  const { at } = useApp();
  const { param, set } = useGoing();
  const [name, setName] = useState(param('condition') ?? 'cluster-missing');
  const { data } = useAnswer<ProxyList>(urlOf('proxies', { at }));
  const condition = CONDITIONS.find(one => one.name === name);
  const asked = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (field: string): string => String(form.get(field) ?? '').trim();
    set({ run: 'bisect', condition: name, proxy: text('proxy'), value: text('value') }, 'push');
  };
  return (
    <form class="panel" onSubmit={asked}>
      <h2>Since when …</h2>
      <div class="bar">
        <select name="proxy" aria-label="Proxy">
          {(data?.proxies ?? []).map(({ id, connection }) => (
            // The options come after the address is read.
            <option key={connection} selected={id === param('proxy')}>
              {id}
            </option>
          ))}
        </select>
        <select aria-label="Condition" value={name} onChange={event => setName(event.currentTarget.value)}>
          {CONDITIONS.map(one => (
            <option key={one.name} value={one.name}>
              {one.title}
            </option>
          ))}
        </select>
        {condition?.value !== undefined && (
          <input
            class="mono grow"
            type="text"
            name="value"
            aria-label={condition.value.label}
            placeholder={`${condition.value.label}, such as ${condition.value.example}`}
            required={condition.value.needed}
            defaultValue={param('value') ?? ''}
          />
        )}
        <button type="submit">Find the event</button>
      </div>
    </form>
  );
}

interface Searching<A> {
  readonly answer?: A;
  readonly fault?: string;
  readonly done?: number;
  readonly of?: number;
}

/** A long question as state; another URL ends it and begins anew. */
function useSearch<A>(url: string): Searching<A> {
  const [state, setState] = useState<Searching<A>>({});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const held = (next: Searching<A>): void => {
      if (!signal.aborted) setState(next);
    };
    setState({});
    ask<A>(url, { signal, onProgress: (done, of) => held({ done, of }) }).then(
      answer => held({ answer }),
      (error: unknown) => held({ fault: error instanceof ApiFault ? error.message : String(error) }),
    );
    return () => controller.abort();
  }, [url]);
  return state;
}

function Progress({ done, of, fault }: Searching<unknown>) {
  if (fault !== undefined) {
    return (
      <p class="note danger" role="alert">
        {fault}
      </p>
    );
  }
  return (
    <p class="empty" role="status">
      <progress aria-label="Progress" max={of || 1} value={done ?? 0} />{' '}
      {done === undefined || of === 0 ? 'Starting …' : `${done} positions looked at`}
    </p>
  );
}

interface Range {
  readonly from: number;
  readonly to: number;
}

function Incident({ from, to }: Range) {
  const { param, href } = useGoing();
  const search = useSearch<IncidentAnswer>(urlOf('incident', { from, to, proxy: param('proxy') }));
  if (search.answer === undefined) return <Progress {...search} />;
  const { breaks, before, proxies, leftOut, evaluated } = search.answer;
  return (
    <>
      <p class="muted">
        {counted(proxies, 'proxy', 'proxies')} looked at, {counted(evaluated, 'position')} evaluated
        {leftOut > 0 && `; ${counted(leftOut, 'proxy', 'proxies')} left out`}.
      </p>
      {breaks.length === 0 && <p class="note">Nothing broke in this range.</p>}
      {breaks.map(({ seq, time, kind, event, symptoms }) => (
        <section key={seq} class="panel break-event">
          <div class="title">
            <h2>
              <a href={href('timeline', '', { event: String(seq), at: String(seq) })}>
                #{seq} {kind} {event}
              </a>
            </h2>
            <span class="muted mono">{fullTime(time)}</span>
          </div>
          {symptoms.map(symptom => (
            <Symptom key={`${symptom.kind} ${symptom.what}`} symptom={symptom} at={seq} />
          ))}
        </section>
      ))}
      {before.length > 0 && (
        <details>
          <summary>{counted(before.length, 'symptom')} the range begins with</summary>
          {before.map(({ kind, proxy, what }) => (
            <p key={`${kind} ${proxy} ${what}`} class="mono break muted">
              {kind} {what} {proxy}
            </p>
          ))}
        </details>
      )}
    </>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  'cluster-missing': 'requests are sent to a cluster that is not there',
  'endpoints-lost': 'no endpoint is left',
  'route-lost': 'no route is left for the host',
  refused: 'an object is refused',
  'proxy-gone': 'the proxy is gone',
  nack: 'Envoy refuses what it is sent',
};

function Symptom({
  symptom: { kind, what, proxies, lasts },
  at,
}: {
  readonly symptom: IncidentSymptom;
  readonly at: number;
}) {
  return (
    <div class="symptom">
      <span class="danger">✕ {WORDS[kind] ?? kind}</span>
      <span class="mono break">{what}</span>
      <span>
        {proxies.map((proxy, i) => (
          <span key={proxy}>
            {i > 0 && ', '}
            <ProxyLink proxy={proxy} at={at} />
          </span>
        ))}
      </span>
      <span class="muted">{lasts ? 'lasts to the end' : 'over by the end'}</span>
    </div>
  );
}

function Bisect({ from, to }: Range) {
  const { param } = useGoing();
  const query = { from, to, proxy: param('proxy'), condition: param('condition'), value: param('value') };
  const search = useSearch<BisectAnswer>(urlOf('bisect', query));
  if (search.answer === undefined) return <Progress {...search} />;
  const { what, found, evaluated, command } = search.answer;
  return (
    <section class="panel">
      <div class="bar">
        <strong class="grow">{what}</strong>
        <span class="muted">{counted(evaluated, 'position')} evaluated</span>
        <CopyButton text={command} what="Copy the command" />
      </div>
      {found === undefined ? (
        <p class="note">At no position that was looked at.</p>
      ) : (
        <>
          <p>
            Since <EventLink seq={found.seq} time={found.event.time} />: {found.event.kind} {found.event.summary}
          </p>
          <DifferencePanel difference={found.difference} />
        </>
      )}
    </section>
  );
}
