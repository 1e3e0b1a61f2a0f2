// "What happens to GET /x with these headers?", answered by the oracle on the proxy's own configuration, step by step.

import { useState } from 'preact/hooks';
import type { ProxyView } from '../../src/admin/explorer/api.ts';
import type { TraceAnswer, TraceBranch } from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useAnswer } from '../client/use-answer.ts';
import { percent } from '../model/share-text.ts';
import { Answer } from '../parts/answer.tsx';
import { ProxyLink } from '../parts/links.tsx';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

interface QuestionProps {
  readonly proxy: string;
  readonly view: ProxyView;
}

export function RequestQuestion({ proxy, view }: QuestionProps) {
  const { at } = useApp();
  const { param, set } = useGoing();
  const [headers, setHeaders] = useState(param('headers') ?? '');
  const to = param('to');
  const query = {
    at,
    source: proxy,
    to,
    method: param('method') ?? 'GET',
    path: param('path') ?? '/',
    header: (param('headers') ?? '').split('\n').filter(line => line.includes(':')),
    tcp: param('tcp'),
  };
  const answer = useAnswer<TraceAnswer>(to === undefined ? undefined : urlOf('trace', query));
  const asked = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string): string => String(form.get(name) ?? '').trim();
    set({ to: text('to'), method: text('method'), path: text('path'), headers: headers.trim() }, 'push');
  };
  return (
    <>
      <form class="panel ask" onSubmit={asked}>
        <div class="bar">
          <select name="method" aria-label="Method" defaultValue={query.method}>
            {METHODS.map(method => (
              <option key={method}>{method}</option>
            ))}
          </select>
          <input
            class="mono grow"
            type="text"
            name="to"
            aria-label="Host and port"
            placeholder="host:port, such as reviews:9080"
            defaultValue={to ?? ''}
            list="hosts"
            required
          />
          <input class="mono grow" type="text" name="path" aria-label="Path" defaultValue={query.path} />
          <button type="submit" class="primary">
            What happens?
          </button>
        </div>
        <datalist id="hosts">
          {hostsOf(view).map(host => (
            <option key={host} value={host} />
          ))}
        </datalist>
        <details open={headers !== ''}>
          <summary>Headers</summary>
          <textarea
            rows={3}
            class="fill"
            aria-label="Headers, one a line"
            placeholder="end-user: jason"
            value={headers}
            onInput={event => setHeaders(event.currentTarget.value)}
          />
        </details>
      </form>
      {to !== undefined && (
        <Answer of={answer} what="Asking the oracle">
          {trace => <TraceResult trace={trace} />}
        </Answer>
      )}
    </>
  );
}

function hostsOf({ routes }: ProxyView): readonly string[] {
  const hosts = routes.flatMap(({ splits }) => splits.map(({ host, port }) => `${host}:${port}`));
  return [...new Set(hosts)].filter(host => !host.startsWith(':')).sort();
}

function TraceResult({ trace: { authority, destination, branches, arrived, open } }: { readonly trace: TraceAnswer }) {
  return (
    <>
      <p class="muted">
        To <span class="mono">{authority}</span>, connecting to <span class="mono">{destination}</span>:
      </p>
      {branches.map((branch, i) => (
        <Branch key={`${branch.sentence} ${i}`} branch={branch} open={i === 0} />
      ))}
      {arrived.length > 0 && (
        <section class="panel scroll">
          <h2>Where it arrives</h2>
          <table>
            <tbody>
              {arrived.map(({ endpoint, proxy, allowed, why }) => (
                <tr key={endpoint}>
                  <td class="mono">{endpoint}</td>
                  <td>{proxy === undefined ? <span class="muted">no proxy</span> : <ProxyLink proxy={proxy} />}</td>
                  <td class={allowed === 'no' ? 'danger' : allowed === 'unknown' ? 'warn' : ''}>
                    {allowed === 'yes' ? 'allowed' : allowed === 'no' ? 'refused' : 'not known'}
                  </td>
                  <td class="muted">{why}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {open.map(sentence => (
        <p key={sentence} class="note warn">
          {sentence}
        </p>
      ))}
    </>
  );
}

const GOOD: readonly string[] = ['forwarded'];

function Branch({ branch, open }: { readonly branch: TraceBranch; readonly open: boolean }) {
  const { probability, outcome, sentence, steps, status } = branch;
  const bad = !GOOD.includes(outcome) && (status === undefined || status >= 400);
  return (
    <details class="panel" open={open || bad}>
      <summary>
        <strong class="mono">{percent(probability)}</strong>{' '}
        <span class={bad ? 'danger' : ''}>
          {bad && '✕ '}
          {sentence}
        </span>
      </summary>
      <ol class="steps">
        {steps.map(({ stage, name, why, passedOver }, i) => (
          <li key={`${stage} ${i}`}>
            <span class="muted">{stage}</span>
            <div>
              <span class="mono break">{name}</span> <span class="muted">{why}</span>
              {passedOver.length > 0 && (
                <details>
                  <summary>{passedOver.length} passed over</summary>
                  <ul class="muted break">
                    {passedOver.map(reason => (
                      <li key={reason}>{reason}</li>
                    ))}
                  </ul>
                </details>
              )}
            </div>
          </li>
        ))}
      </ol>
    </details>
  );
}
