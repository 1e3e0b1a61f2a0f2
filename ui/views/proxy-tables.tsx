// The tables of one proxy. Rows can be narrowed by words; each has its "why?".

import type { ComponentChildren } from 'preact';
import type { ClusterRow, Problem, ProxyView, RouteRow, Split } from '../../src/admin/explorer/api.ts';
import { useGoing } from '../app-state.ts';
import { shortHost } from '../model/host-text.ts';
import { percent } from '../model/share-text.ts';
import { counted } from '../model/time-text.ts';
import { RawConfig } from './raw-config.tsx';
import { RequestQuestion } from './request-question.tsx';

export type Tab = 'routes' | 'clusters' | 'listeners' | 'endpoints' | 'ask' | 'raw';

export const TABS: readonly {
  readonly id: Tab;
  readonly title: string;
  readonly count?: (view: ProxyView) => number;
}[] = [
  { id: 'routes', title: 'Routes', count: ({ routes }) => routes.length },
  { id: 'clusters', title: 'Clusters', count: ({ clusters }) => clusters.length },
  { id: 'listeners', title: 'Listeners', count: ({ listeners }) => listeners.length },
  { id: 'endpoints', title: 'Endpoints', count: ({ endpoints }) => endpoints.length },
  { id: 'ask', title: 'Ask about a request' },
  { id: 'raw', title: 'Raw' },
];

/** Rows of one table that are drawn; a filter finds the others. */
const ROWS_SHOWN = 400;

export function ProxyTables({ view, tab }: { readonly view: ProxyView; readonly tab: Tab }) {
  if (tab === 'ask') return <RequestQuestion proxy={view.proxy.id} view={view} />;
  if (tab === 'raw') return <RawConfig proxy={view.proxy.id} />;
  return (
    <>
      <Filter />
      {tab === 'routes' && <Routes view={view} />}
      {tab === 'clusters' && <Clusters rows={view.clusters} />}
      {tab === 'listeners' && <Listeners view={view} />}
      {tab === 'endpoints' && <Endpoints view={view} />}
    </>
  );
}

function Filter() {
  const { param, set } = useGoing();
  return (
    <input
      type="search"
      aria-label="Filter rows"
      placeholder="Filter, such as reviews"
      value={param('f') ?? ''}
      onInput={event => set({ f: event.currentTarget.value })}
    />
  );
}

/** The rows that contain every word of the filter. */
function useFiltered<T>(rows: readonly T[], text: (row: T) => string): readonly T[] {
  const { param } = useGoing();
  const words = (param('f') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter(row => {
    const line = text(row).toLowerCase();
    return words.every(word => line.includes(word));
  });
}

interface TableProps<T> {
  readonly heads: readonly string[];
  readonly rows: readonly T[];
  readonly draw: (row: T, i: number) => ComponentChildren;
}

function Table<T>({ heads, rows, draw }: TableProps<T>) {
  if (rows.length === 0) return <p class="empty">None.</p>;
  return (
    <div class="scroll panel">
      <table class="dense">
        <thead>
          <tr>
            {heads.map(head => (
              <th key={head}>{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>{rows.slice(0, ROWS_SHOWN).map(draw)}</tbody>
      </table>
      {rows.length > ROWS_SHOWN && <p class="muted">{rows.length - ROWS_SHOWN} more; narrow them with the filter.</p>}
    </div>
  );
}

function Why({ subject }: { readonly subject: string }) {
  const { param, set } = useGoing();
  return (
    <button
      type="button"
      class="link"
      aria-pressed={param('why') === subject}
      onClick={() => set({ why: param('why') === subject ? undefined : subject }, 'push')}
    >
      why?
    </button>
  );
}

export function Problems({ problems }: { readonly problems: readonly Problem[] }) {
  return (
    <>
      {problems.map(({ kind, message }) => (
        <div key={`${kind} ${message}`} class="danger break">
          ✕ {message}
        </div>
      ))}
    </>
  );
}

function Routes({ view }: { readonly view: ProxyView }) {
  const rows = useFiltered(view.routes, row =>
    [row.route, row.virtualHost, ...row.domains, row.match, row.action].join(' '),
  );
  return (
    <Table
      heads={['Route', 'Virtual host', 'Match, in order', 'Leads to', 'Made by', '']}
      rows={rows}
      draw={(row, i) => {
        const before = rows[i - 1];
        const repeats = before?.route === row.route && before.virtualHost === row.virtualHost;
        return <Route key={`${row.route} ${row.virtualHost} ${i}`} row={row} repeats={repeats} />;
      }}
    />
  );
}

function Route({ row, repeats }: { readonly row: RouteRow; readonly repeats: boolean }) {
  const { route, virtualHost, domains, match, virtualService, action, splits, problems } = row;
  return (
    <tr class={repeats ? 'repeats' : ''}>
      <td class="mono muted">{repeats ? '' : route}</td>
      <td class="mono break" title={[virtualHost, ...domains].join('\n')}>
        {repeats ? '' : shortHost(virtualHost)}
      </td>
      <td class="mono">{match}</td>
      <td>
        {splits.length === 0 ? (
          <span class="break">{action}</span>
        ) : (
          splits.map(split => <Leads key={split.cluster} split={split} missing={missing(split, problems)} />)
        )}
        <Problems problems={problems.filter(one => !splits.some(split => missing(split, [one])))} />
      </td>
      <td class="mono">
        <MadeBy kind="VirtualService" name={virtualService} />
      </td>
      <td>
        <Why subject={`virtual-host ${domains[0] ?? virtualHost} ${route}`} />
      </td>
    </tr>
  );
}

function missing({ cluster }: Split, problems: readonly Problem[]): boolean {
  return problems.some(({ kind, message }) => kind === 'missing-cluster' && message.includes(cluster));
}

function Leads({ split, missing: isMissing }: { readonly split: Split; readonly missing: boolean }) {
  const { cluster, host, subset, port, share, endpoints } = split;
  const { set } = useGoing();
  const name = host === '' || port === 0 ? cluster : `${shortHost(host)}:${port}`;
  return (
    <div class="leads">
      <span class="share mono">{percent(share)}</span>
      <span>
        <button
          type="button"
          class="link mono break"
          title={cluster}
          onClick={() => set({ tab: 'clusters', f: cluster }, 'push')}
        >
          {name}
          {subset !== '' && <strong> {subset}</strong>}
        </button>{' '}
        {isMissing ? (
          <span class="danger">
            ✕ there is no such cluster, <Why subject={`cluster ${cluster}`} />
          </span>
        ) : (
          <span class={endpoints === 0 ? 'danger' : 'muted'}>
            {endpoints === 0 ? '✕ no endpoints' : endpoints !== undefined && counted(endpoints, 'endpoint')}
          </span>
        )}
      </span>
    </div>
  );
}

/** `name`: `name.namespace`; empty: none. */
/** Objects separated by commas: `name.namespace` of `kind`, or `Kind/name.namespace`. */
function MadeBy({ kind, name }: { readonly kind: string; readonly name: string }) {
  const { href } = useGoing();
  if (name === '') return <span class="muted">–</span>;
  return (
    <>
      {name.split(', ').map(text => {
        const [, other, object = '', namespace, more] = /^(?:([^/]+)\/)?(.*)\.([^. ]+)( \+ .*)?$/.exec(text) ?? [];
        if (namespace === undefined) return <span class="muted">{text}</span>;
        return (
          <div key={text}>
            <a class="break" href={href('object', `${other ?? kind}/${namespace}/${object}`)}>
              {more === undefined ? text : text.slice(0, -more.length)}
            </a>
            {more}
          </div>
        );
      })}
    </>
  );
}

function Clusters({ rows }: { readonly rows: readonly ClusterRow[] }) {
  const found = useFiltered(rows, ({ name, fqdn, type }) => `${name} ${fqdn} ${type}`);
  return (
    <Table
      heads={['Service', 'Port', 'Subset', 'Direction', 'Type', 'Endpoints', 'Made by', '']}
      rows={found}
      draw={({ name, fqdn, port, subset, direction, type, destinationRule, endpoints, problems }) => (
        <tr key={name}>
          <td class="mono break" title={name}>
            {fqdn}
            <Problems problems={problems} />
          </td>
          <td class="mono number">{port === 0 ? '' : port}</td>
          <td class="mono">{subset}</td>
          <td>{direction}</td>
          <td>{type}</td>
          <td class={`number ${endpoints === 0 ? 'danger' : ''}`}>{endpoints ?? ''}</td>
          <td class="mono">
            <MadeBy kind="DestinationRule" name={destinationRule} />
          </td>
          <td>
            <Why subject={`cluster ${name}`} />
          </td>
        </tr>
      )}
    />
  );
}

function Listeners({ view }: { readonly view: ProxyView }) {
  const rows = useFiltered(
    view.listeners,
    one => `${one.name} ${one.address} ${one.port} ${one.match} ${one.destination}`,
  );
  return (
    <Table
      heads={['Address', 'Port', 'Match', 'Leads to', '']}
      rows={rows}
      draw={({ name, address, port, match, destination }, i) => {
        const repeats = rows[i - 1]?.name === name;
        return (
          <tr key={`${name} ${i}`} class={repeats ? 'repeats' : ''}>
            <td class="mono" title={name}>
              {repeats ? '' : address}
            </td>
            <td class="mono number">{repeats ? '' : port}</td>
            <td class="mono">{match}</td>
            <td class="mono break">{destination}</td>
            <td>{!repeats && <Why subject={`listener ${name}`} />}</td>
          </tr>
        );
      }}
    />
  );
}

function Endpoints({ view }: { readonly view: ProxyView }) {
  const rows = useFiltered(view.endpoints, ({ endpoint, status, cluster }) => `${endpoint} ${status} ${cluster}`);
  return (
    <Table
      heads={['Endpoint', 'Status', 'Weight', 'Cluster', '']}
      rows={rows}
      draw={({ endpoint, status, weight, cluster }) => (
        <tr key={`${cluster} ${endpoint}`}>
          <td class="mono">{endpoint}</td>
          <td class={status === 'HEALTHY' ? '' : 'warn'}>{status}</td>
          <td class="number">{weight}</td>
          <td class="mono break">{cluster}</td>
          <td>
            <Why subject={`endpoint ${endpoint} ${cluster}`} />
          </td>
        </tr>
      )}
    />
  );
}
