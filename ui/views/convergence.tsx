// How one event reached the proxies: how many had been sent what follows of it by when, and each proxy's pushes.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { Convergence } from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useLiveAnswer } from '../client/use-live-answer.ts';
import { counted, duration, fullTime } from '../model/time-text.ts';
import { Answer } from '../parts/answer.tsx';
import { EventLink, ObjectLink, ProxyLink } from '../parts/links.tsx';
import { useWidth } from '../parts/use-width.ts';

const CHART_PX = 150;
const PROXIES_SHOWN = 200;

const timeOf = ({ event }: Convergence): number => event.time;

export function ConvergencePanel({ seq }: { readonly seq: number }) {
  const answer = useLiveAnswer<Convergence>(urlOf('convergence', { seq }), timeOf, false);
  return (
    <Answer of={answer} what="Following the event">
      {convergence => <Reached convergence={convergence} />}
    </Answer>
  );
}

function Reached({ convergence: { event, proxies, curve } }: { readonly convergence: Convergence }) {
  const { href } = useGoing();
  const { theme } = useApp();
  const sent = proxies.filter(one => one.sent.length > 0);
  const last = curve.at(-1);
  return (
    <>
      <h1>
        How <EventLink seq={event.seq} /> reached the proxies
      </h1>
      <p class="muted">
        {event.kind} {event.object !== '' && <ObjectLink object={event.object} at={event.seq} />} {fullTime(event.time)}
      </p>
      <p>
        {sent.length === 0
          ? 'No proxy was sent anything because of it.'
          : `${sent.length} of ${counted(proxies.length, 'connected proxy', 'connected proxies')} were sent something${
              last === undefined ? '' : `, the last after ${duration(last.afterMs)}`
            }.`}
      </p>
      {curve.length > 0 && (
        <figure class="panel">
          <figcaption class="muted">proxies that were sent all of it, by time since the event</figcaption>
          <Curve key={theme} curve={curve} />
        </figure>
      )}
      {sent.length > 0 && (
        <section class="panel scroll">
          <table class="dense">
            <thead>
              <tr>
                <th>Proxy</th>
                <th>Sent, after</th>
                <th>Refused</th>
              </tr>
            </thead>
            <tbody>
              {sent.slice(0, PROXIES_SHOWN).map(({ proxy, connection, sent: types, nacks }) => (
                <tr key={connection}>
                  <td>
                    <ProxyLink proxy={proxy} />
                  </td>
                  <td>
                    {types.map(({ type, seq, afterMs }) => (
                      <a key={seq} class="sent" href={href('push', String(seq))}>
                        {type} <span class="mono muted">{duration(afterMs)}</span>
                      </a>
                    ))}
                  </td>
                  <td class="danger break">
                    {nacks.map(({ seq, type, reason }) => (
                      <div key={seq}>
                        <a href={href('push', `nack/${seq}`)}>{type}</a>: {reason}
                      </div>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

/** From nothing at the event to the last proxy and a little on; one point a time. */
function pointsOf(curve: Convergence['curve']): Convergence['curve'] {
  const reached = new Map([[0, 0], ...curve.map(({ afterMs, proxies }) => [afterMs, proxies] as const)]);
  const points = [...reached].map(([afterMs, proxies]) => ({ afterMs, proxies }));
  const last = points.at(-1);
  return last === undefined
    ? points
    : [...points, { afterMs: Math.ceil(last.afterMs * 1.04) + 1, proxies: last.proxies }];
}

function Curve({ curve }: { readonly curve: Convergence['curve'] }) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  useEffect(() => {
    if (place.current === null || width === 0) return undefined;
    const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
    const points = pointsOf(curve);
    const chart = new uPlot(
      {
        width,
        height: CHART_PX,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false }, y: { range: (_, __, max) => [0, max] } },
        axes: [
          { ...axis, values: (_, values) => values.map(value => duration(value)) },
          { ...axis, size: 40, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000] },
        ],
        series: [
          {},
          {
            stroke: colour('--accent'),
            width: 2,
            points: { show: false },
            ...(uPlot.paths.stepped === undefined ? {} : { paths: uPlot.paths.stepped({ align: 1 }) }),
          },
        ],
      },
      [points.map(({ afterMs }) => afterMs), points.map(({ proxies }) => proxies)],
      place.current,
    );
    return () => chart.destroy();
  }, [curve, width]);
  return <div ref={place} style={{ height: `${CHART_PX}px` }} aria-hidden="true" />;
}
