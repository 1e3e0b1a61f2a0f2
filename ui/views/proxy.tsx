// Proxies at the moment: all of them, or one with its routes in match order, clusters, listeners, endpoints, raw
// configuration, a question about a request, and why anything of it is as it is.

import type { ProxyList, ProxyRow, ProxyView as View } from '../../src/admin/explorer/api.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useAnswer } from '../client/use-answer.ts';
import { counted } from '../model/time-text.ts';
import { Answer } from '../parts/answer.tsx';
import { ProxyTables, TABS, type Tab } from './proxy-tables.tsx';
import { WhyPanel } from './why-panel.tsx';

export function ProxyView() {
  const { at, place } = useApp();
  const { param } = useGoing();
  const list = useAnswer<ProxyList>(urlOf('proxies', { at }));
  if (place.subject === '') {
    return (
      <main class="view">
        <div class="page">
          <Answer of={list} what="Listing proxies">
            {({ proxies }) => <AllProxies proxies={proxies} />}
          </Answer>
        </div>
      </main>
    );
  }
  const why = param('why');
  return (
    <main class={`view columns proxy ${why === undefined ? '' : 'with-why'}`}>
      <ProxyNames proxies={list.data?.proxies ?? []} chosen={place.subject} />
      <OneProxy id={place.subject} />
      {why !== undefined && <WhyPanel proxy={place.subject} subject={why} />}
    </main>
  );
}

const TYPES = ['CDS', 'EDS', 'LDS', 'RDS', 'SDS', 'ECDS', 'NDS'];

function AllProxies({ proxies }: { readonly proxies: readonly ProxyRow[] }) {
  const { href } = useGoing();
  if (proxies.length === 0) return <p class="empty">No proxy is connected at this moment.</p>;
  const types = TYPES.filter(type => proxies.some(({ types: held }) => held[type] !== undefined));
  return (
    <>
      <h1>{counted(proxies.length, 'proxy', 'proxies')} connected</h1>
      <section class="panel scroll">
        <table>
          <thead>
            <tr>
              <th>Proxy</th>
              <th>Kind</th>
              <th>Addresses</th>
              <th>Version</th>
              {types.map(type => (
                <th key={type}>{type}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {proxies.map(proxy => (
              <tr key={proxy.connection}>
                <td class="mono">
                  <a href={href('proxy', proxy.id)}>{proxy.id}</a>
                </td>
                <td>{proxy.type}</td>
                <td class="mono muted">{proxy.ips.join(', ')}</td>
                <td class="muted">{proxy.version}</td>
                {types.map(type => (
                  <td key={type}>
                    <TypeStatus proxy={proxy} type={type} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function TypeStatus({ proxy, type }: { readonly proxy: ProxyRow; readonly type: string }) {
  const { href } = useGoing();
  const held = proxy.types[type];
  if (held === undefined) return <span class="muted">–</span>;
  const { status, resources, lastError, stateSeq } = held;
  if (status === 'ERROR') {
    return (
      <span class="danger" title={lastError}>
        refused
      </span>
    );
  }
  if (status === 'NOT_SENT') return <span class="muted">not sent</span>;
  return (
    <span title={stateSeq === undefined ? undefined : `of the state at event ${stateSeq}`}>
      {resources ?? ''}{' '}
      {stateSeq !== undefined && (
        <a class="mono muted" href={href('timeline', '', { event: String(stateSeq), at: String(stateSeq) })}>
          #{stateSeq}
        </a>
      )}
    </span>
  );
}

function ProxyNames({ proxies, chosen }: { readonly proxies: readonly ProxyRow[]; readonly chosen: string }) {
  const { place } = useApp();
  const { href, to } = useGoing();
  const { tab } = place.params;
  return (
    <nav class="names" aria-label="Proxies">
      <label class="narrow-only">
        Proxy{' '}
        <select value={chosen} onChange={event => to('proxy', event.currentTarget.value, { tab })}>
          {proxies.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      <ul class="wide-only">
        <li>
          <a href={href('proxy')}>All proxies</a>
        </li>
        {proxies.map(({ id, connection, types }) => (
          <li key={connection}>
            <a
              class="mono clip"
              title={id}
              href={href('proxy', id, { tab })}
              aria-current={id === chosen ? 'page' : undefined}
            >
              {Object.values(types).some(({ status }) => status === 'ERROR') && <span class="danger">✕ </span>}
              {id}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function OneProxy({ id }: { readonly id: string }) {
  const { at } = useApp();
  const { param, set } = useGoing();
  const answer = useAnswer<View>(urlOf('proxy', { proxy: id, at }));
  const tab: Tab = TABS.find(one => one.id === param('tab'))?.id ?? 'routes';
  return (
    <section class={`page ${answer.stale ? 'stale' : ''}`}>
      <Answer of={answer} what="Making its configuration">
        {view => (
          <>
            <div class="title">
              <h1 class="mono">{view.proxy.id}</h1>
              <span class="muted">
                {[view.proxy.type, ...view.proxy.ips, view.proxy.version, view.proxy.protocol]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
            </div>
            <Refusals proxy={view.proxy} />
            <div class="tabs" role="tablist">
              {TABS.map(({ id: name, title, count }) => (
                <button
                  key={name}
                  type="button"
                  role="tab"
                  aria-selected={name === tab}
                  onClick={() => set({ tab: name === 'routes' ? undefined : name, f: undefined }, 'push')}
                >
                  {title} <span class="muted">{count?.(view)}</span>
                </button>
              ))}
            </div>
            <ProxyTables view={view} tab={tab} />
          </>
        )}
      </Answer>
    </section>
  );
}

function Refusals({ proxy }: { readonly proxy: ProxyRow }) {
  const refused = Object.entries(proxy.types).filter(([, { lastError }]) => lastError !== undefined);
  return (
    <>
      {refused.map(([type, { lastError }]) => (
        <p key={type} class="note danger">
          It refuses its {type}: <span class="mono">{lastError}</span>
        </p>
      ))}
    </>
  );
}
