// What is broken in the mesh, by what it means for requests: the worst kind first, and in each kind what most workloads
// have. A problem that hundreds of workloads have is one line.

import { useState } from 'preact/hooks';
import type { Mesh, MeshProblem } from '../../src/admin/explorer/api-questions.ts';
import { useGoing } from '../app-state.ts';
import { namesIn } from '../model/filters.ts';
import { counted } from '../model/time-text.ts';
import { ProxyLink } from '../parts/links.tsx';

/** In the order of the answer, which ranks them. */
const TITLES: Readonly<Record<MeshProblem['kind'], string>> = {
  unreachable: 'Hosts that no workload reaches',
  'missing-cluster': 'Routes to a destination that is not there',
  nack: 'Refused by Envoy',
  'no-endpoints': 'Destinations without endpoints',
};
/** Of one kind: at first, and more at once. */
const SHOWN = 8;
const MORE = 50;
const PROXIES_SHOWN = 3;

export function MeshProblems({ mesh }: { readonly mesh: Mesh }) {
  const { problems, problemsLeftOut } = mesh;
  const kinds = [...new Set(problems.map(({ kind }) => kind))];
  const total = problems.length + problemsLeftOut;
  return (
    <section class="panel mesh-problems">
      <h2>{total === 0 ? 'No problem is known' : counted(total, 'problem')}</h2>
      {kinds.map(kind => (
        <OfKind key={kind} kind={kind} problems={problems.filter(one => one.kind === kind)} mesh={mesh} />
      ))}
      {problemsLeftOut > 0 && <p class="muted">The least of them, {problemsLeftOut}, are not listed.</p>}
    </section>
  );
}

interface OfKindProps {
  readonly kind: MeshProblem['kind'];
  readonly problems: readonly MeshProblem[];
  readonly mesh: Mesh;
}

function OfKind({ kind, problems, mesh }: OfKindProps) {
  const [shown, setShown] = useState(SHOWN);
  const left = problems.length - shown;
  return (
    <>
      <h3>
        {TITLES[kind]} <span class="muted">{problems.length}</span>
      </h3>
      {problems.slice(0, shown).map(problem => (
        <Problem key={`${problem.node} ${problem.to} ${problem.message}`} problem={problem} mesh={mesh} />
      ))}
      {left > 0 && (
        <button type="button" onClick={() => setShown(shown + MORE)}>
          {left <= MORE ? `Show the other ${left}` : `Show ${MORE} of ${left} more`}
        </button>
      )}
    </>
  );
}

function Problem({ problem, mesh }: { readonly problem: MeshProblem; readonly mesh: Mesh }) {
  const { set, param } = useGoing();
  const { node, to, message, workloads, proxies, proxiesLeftOut, namespaces } = problem;
  /** What is folded is opened, so that the box or line is there. */
  const choose = (): void => {
    const open = [...namesIn(param('open')), ...namespaces.filter(name => mesh.folded.includes(name))];
    set({ chosen: to === undefined ? node : `${node} > ${to}`, open: [...new Set(open)].join(',') }, 'push');
  };
  const others = Math.max(0, proxies.length - PROXIES_SHOWN) + proxiesLeftOut;
  return (
    <div class="problem">
      <button type="button" class="link danger break" onClick={choose}>
        ✕ {message}
      </button>
      <div>
        {workloads > 1 && <span class="muted">{counted(workloads, 'workload')}: </span>}
        {proxies.slice(0, PROXIES_SHOWN).map((proxy, i) => (
          <span key={proxy}>
            {i > 0 && ', '}
            <ProxyLink proxy={proxy} />
          </span>
        ))}
        {others > 0 && ` and ${others} more`}
      </div>
    </div>
  );
}
