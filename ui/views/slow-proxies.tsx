// Who was slow: the proxies of the range by how long after a change they were sent what followed of it.

import type { SlowProxies, SlowProxy } from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useAnswer } from '../client/use-answer.ts';
import { counted, duration, grouped } from '../model/time-text.ts';
import { Answer } from '../parts/answer.tsx';
import { ProxyLink } from '../parts/links.tsx';

export function SlowPanel() {
  const { at, from } = useApp();
  const answer = useAnswer<SlowProxies>(urlOf('slow', { from, to: at }));
  return (
    <>
      <h1>Slowest proxies</h1>
      <p class="muted">
        From a change to the moment when a push with it leaves for the proxy. A proxy that is slow to take or to answer
        a push waits longer for the next. Choose a push for its causes and its size.
      </p>
      <Answer of={answer} what="Reading receipts">
        {found => <Ranking found={found} />}
      </Answer>
    </>
  );
}

function Ranking({ found: { proxies, from, to, leftOut } }: { readonly found: SlowProxies }) {
  const longest = Math.max(1, ...proxies.map(({ longestMs }) => longestMs));
  return (
    <>
      <section class="panel scroll">
        <table class="dense ranking">
          <thead>
            <tr>
              <th>Proxy</th>
              <th class="number">Pushes</th>
              <th class="number">Median</th>
              <th class="number">Longest</th>
              <th class="wait">
                <span class="hidden-text">Longest, as a bar</span>
              </th>
              <th class="number">Refused</th>
              <th class="number">Left</th>
            </tr>
          </thead>
          <tbody>
            {proxies.map(one => (
              <Row key={one.connection} one={one} share={one.longestMs / longest} />
            ))}
          </tbody>
        </table>
        {proxies.length === 0 && <p class="muted">No push in this range.</p>}
      </section>
      <p class="muted">
        {leftOut > 0 && `${counted(leftOut, 'proxy', 'proxies')} less slow. `}
        Of the events #{grouped(from)} to #{grouped(to)}.
      </p>
    </>
  );
}

function Row({ one, share }: { readonly one: SlowProxy; readonly share: number }) {
  const { href } = useGoing();
  const { proxy, connection, pushes, medianMs, longestMs, longest, nacks, disconnects } = one;
  return (
    <tr>
      <td>{proxy === '' ? <span class="mono break muted">{connection}</span> : <ProxyLink proxy={proxy} />}</td>
      <td class="number">{grouped(pushes)}</td>
      <td class="number">{pushes > 0 && duration(medianMs)}</td>
      <td class="number">
        {longest !== undefined && (
          <a href={href('push', String(longest.seq))}>
            {longest.type} {duration(longestMs)}
          </a>
        )}
      </td>
      <td>
        <svg class="wait" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect width={Math.max(share * 100, pushes > 0 ? 0.5 : 0)} height="8" />
        </svg>
      </td>
      <td class={`number ${nacks > 0 ? 'danger' : 'muted'}`}>{nacks}</td>
      <td class={`number ${disconnects > 0 ? 'warn' : 'muted'}`}>{disconnects}</td>
    </tr>
  );
}
