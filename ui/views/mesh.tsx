// The mesh at the moment, by what its configuration routes and allows; beside it, the mesh at the moment it is compared
// with. Namespaces fold, so that hundreds of services stay readable.

import type { Mesh, MeshEdge, MeshNode } from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useAnswer } from '../client/use-answer.ts';
import { namesIn, toggled } from '../model/filters.ts';
import { naturalRank } from '../model/mesh-graph.ts';
import { percent } from '../model/share-text.ts';
import { counted } from '../model/time-text.ts';
import { Answer } from '../parts/answer.tsx';
import { ProxyLink } from '../parts/links.tsx';
import { MeshDrawing } from '../parts/mesh-drawing.tsx';
import { MeshProblems } from './mesh-problems.tsx';
import { Problems } from './proxy-tables.tsx';

export function MeshView() {
  const { at, from } = useApp();
  const { param } = useGoing();
  const query = { fold: param('fold') ?? 'auto', open: namesIn(param('open')) };
  const now = useAnswer<Mesh>(urlOf('mesh', { at, ...query }));
  const before = useAnswer<Mesh>(from === undefined ? undefined : urlOf('mesh', { at: from, ...query }));
  const chosen = param('chosen');
  return (
    <main class="view columns mesh">
      <section class="mesh-area">
        <Controls mesh={now.data} />
        <div class={from === undefined ? '' : 'side-by-side'}>
          {from !== undefined && <Side title={`#${from}`} of={before} other={now.data} chosen={chosen} />}
          <Side
            title={from === undefined ? undefined : `#${at}`}
            of={now}
            other={from === undefined ? undefined : before.data}
            chosen={chosen}
          />
        </div>
      </section>
      <aside class="page" aria-label="Details">
        {now.data !== undefined && <Panel mesh={now.data} chosen={chosen} />}
      </aside>
    </main>
  );
}

interface SideProps {
  readonly title: string | undefined;
  readonly of: ReturnType<typeof useAnswer<Mesh>>;
  readonly other: Mesh | undefined;
  readonly chosen: string | undefined;
}

function Side({ title, of, other, chosen }: SideProps) {
  const { param } = useGoing();
  const compared = title !== undefined;
  const backs = compared ? param('backs') === 'yes' : param('backs') !== 'no';
  const choice = { visible: param('visible') !== undefined, backs, compared };
  return (
    <figure class={`mesh-side ${of.stale ? 'stale' : ''}`}>
      {title !== undefined && <figcaption class="mono">{title}</figcaption>}
      <Answer of={of} what="Making the mesh">
        {mesh => <MeshDrawing mesh={mesh} choice={choice} chosen={chosen} other={other} />}
      </Answer>
    </figure>
  );
}

function Controls({ mesh }: { readonly mesh: Mesh | undefined }) {
  const { from } = useApp();
  const { param, set } = useGoing();
  const box = (name: string, on: string | undefined, off: string | undefined, title: string) => (
    <label>
      <input
        type="checkbox"
        checked={param(name) === on}
        onChange={event => set({ [name]: event.currentTarget.checked ? on : off })}
      />{' '}
      {title}
    </label>
  );
  return (
    <div class="bar list-head">
      {box('visible', 'yes', undefined, 'default routes')}
      {from === undefined
        ? box('backs', undefined, 'no', 'workloads behind services')
        : box('backs', 'yes', undefined, 'workloads behind services')}
      <label>
        namespaces{' '}
        <select
          value={param('fold') ?? 'auto'}
          onChange={event => set({ fold: event.currentTarget.value, open: undefined })}
        >
          <option value="auto">folded where many</option>
          <option value="all">folded</option>
          <option value="none">open</option>
        </select>
      </label>
      {[...(mesh?.namespaces ?? [])]
        .sort((a, b) => (naturalRank(a) < naturalRank(b) ? -1 : 1))
        .filter(name => mesh?.folded.includes(name) === true || namesIn(param('open')).includes(name))
        .map(name => (
          <button
            key={name}
            type="button"
            aria-pressed={mesh?.folded.includes(name) !== true}
            onClick={() => set({ open: toggled(param('open'), name) })}
          >
            {name}
          </button>
        ))}
      {mesh !== undefined && mesh.leftOut > 0 && <span class="warn">{mesh.leftOut} left out</span>}
    </div>
  );
}

function Panel({ mesh, chosen }: { readonly mesh: Mesh; readonly chosen: string | undefined }) {
  const node = mesh.nodes.find(({ id }) => id === chosen);
  const edges = mesh.edges.filter(({ from, to }) => `${from} > ${to}` === chosen);
  return (
    <>
      {node !== undefined && <NodePanel node={node} mesh={mesh} />}
      {edges.map(edge => (
        <EdgePanel key={edge.kind} edge={edge} />
      ))}
      <MeshProblems mesh={mesh} />
      {node === undefined && edges.length === 0 && (
        <p class="muted">
          Choose a box or a line. Lines are what routes lead to; a label is the share that goes to a subset. Red: a
          destination that is not there, has no endpoint, or refuses by policy; a box that no workload reaches. Dashed:
          plaintext. With two moments, thick lines are those that differ.
        </p>
      )}
    </>
  );
}

function NodePanel({ node, mesh }: { readonly node: MeshNode; readonly mesh: Mesh }) {
  const { id, title, kind, namespace, proxies, mtls, policies, problems, problemsLeftOut } = node;
  const edges = mesh.edges.filter(edge => edge.from === id || edge.to === id);
  const calls = edges.filter(edge => edge.from === id && edge.kind !== 'backs');
  const callers = edges.filter(edge => edge.to === id && edge.kind !== 'backs');
  return (
    <section class="panel">
      <h2 class="mono break">{title}</h2>
      <dl class="facts">
        <dt>Kind</dt>
        <dd>
          {kind} {namespace !== '' && <span class="muted">in {namespace}</span>}
        </dd>
        <dt>Inbound</dt>
        <dd>{mtls}</dd>
        {policies.length > 0 && (
          <>
            <dt>Policies</dt>
            <dd class="mono">{policies.join(', ')}</dd>
          </>
        )}
        <dt>Proxies</dt>
        <dd>
          {proxies.length === 0 ? (
            <span class="muted">none</span>
          ) : (
            proxies.map(proxy => (
              <div key={proxy}>
                <ProxyLink proxy={proxy} />
              </div>
            ))
          )}
        </dd>
        <dt>Calls</dt>
        <dd>
          <Lines edges={calls} end="to" />
        </dd>
        <dt>Called by</dt>
        <dd>
          <Lines edges={callers} end="from" />
        </dd>
      </dl>
      <Problems problems={problems} />
      {problemsLeftOut > 0 && <p class="muted">and {problemsLeftOut} more: open the namespace to see each</p>}
    </section>
  );
}

/** Lines of a node that are listed. */
const LINES_SHOWN = 20;

/** Each chooses its line: those of the drawing are for the pointer alone. */
function Lines({ edges, end }: { readonly edges: readonly MeshEdge[]; readonly end: 'from' | 'to' }) {
  const { set } = useGoing();
  if (edges.length === 0) return <span class="muted">none</span>;
  const sorted = [...edges].sort((a, b) => b.problems.length - a.problems.length);
  return (
    <>
      {sorted.slice(0, LINES_SHOWN).map(edge => (
        <div key={`${edge.from} ${edge.to}`}>
          <button
            type="button"
            class={`link mono break ${edge.problems.length > 0 ? 'danger' : ''}`}
            onClick={() => set({ chosen: `${edge.from} > ${edge.to}` }, 'push')}
          >
            {edge.problems.length > 0 ? '✕ ' : ''}
            {edge[end].split('/').slice(1).join('/')}
          </button>
        </div>
      ))}
      {edges.length > LINES_SHOWN && <span class="muted">and {edges.length - LINES_SHOWN} more</span>}
    </>
  );
}

function EdgePanel({ edge }: { readonly edge: MeshEdge }) {
  const { from, to, kind, hosts, splits, transport, access, problems, leftOut } = edge;
  return (
    <section class="panel">
      <h2 class="mono break">
        {from} → {to}
      </h2>
      <dl class="facts">
        <dt>Why</dt>
        <dd>
          {kind === 'routes'
            ? 'an object routes there'
            : kind === 'visible'
              ? 'the default route'
              : 'it is an endpoint'}
        </dd>
        {hosts.length > 0 && (
          <>
            <dt>Called as</dt>
            <dd class="mono">{hosts.join(', ')}</dd>
          </>
        )}
        <dt>Transport</dt>
        <dd>{transport}</dd>
        <dt>Policies</dt>
        <dd class={access === 'denied' ? 'danger' : ''}>{access}</dd>
        {splits.length > 0 && (
          <>
            <dt>Split</dt>
            <dd>
              {splits.map(({ cluster, subset, share, endpoints }) => (
                <div key={cluster} class="mono break">
                  {percent(share)} {subset === '' ? cluster : subset}{' '}
                  <span class={endpoints === 0 ? 'danger' : 'muted'}>
                    {endpoints !== undefined && counted(endpoints, 'endpoint')}
                  </span>
                </div>
              ))}
            </dd>
          </>
        )}
      </dl>
      <Problems problems={problems} />
      {leftOut > 0 && <p class="muted">and {leftOut} more: open both namespaces to see each line</p>}
    </section>
  );
}
