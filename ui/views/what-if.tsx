// Differences for each class of proxies: between two moments, or between a moment and what some YAML would make of it.
// Nothing is applied: the server folds the objects into a state that is thrown away.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Difference, ObjectView } from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { ApiFault, send, urlOf } from '../client/api-client.ts';
import { type Answered, useAnswer } from '../client/use-answer.ts';
import { counted } from '../model/time-text.ts';
import { Answer } from '../parts/answer.tsx';
import { Classes, Warnings } from '../parts/change-classes.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { EventLink } from '../parts/links.tsx';
import { YamlEditor } from '../parts/yaml-editor.tsx';

export function WhatIfView() {
  const { from, at } = useApp();
  const { param, set } = useGoing();
  const edits = param('edit') !== undefined || param('yaml') !== undefined || from === undefined;
  return (
    <main class="view">
      <div class="page">
        <div class="tabs" role="tablist">
          <button
            type="button"
            role="tab"
            aria-selected={!edits}
            onClick={() => set({ edit: undefined, yaml: undefined, from: String(from ?? Math.max(0, at - 1)) }, 'push')}
          >
            Between two moments
          </button>
          <button
            type="button"
            role="tab"
            aria-selected={edits}
            onClick={() => set({ from: undefined, edit: param('edit'), yaml: param('yaml') }, 'push')}
          >
            What if …
          </button>
        </div>
        {edits ? <WhatIf /> : <Between from={from ?? at} to={at} />}
      </div>
    </main>
  );
}

function Between({ from, to }: { readonly from: number; readonly to: number }) {
  const { param } = useGoing();
  const answer = useAnswer<Difference>(urlOf('diff', { from, to, proxy: param('proxy') }));
  return (
    <Answer of={answer} what="Making both meshes">
      {difference => (
        <>
          <p class="muted">
            From <EventLink seq={difference.from.seq} time={difference.from.time} /> to{' '}
            <EventLink seq={difference.to.seq} time={difference.to.time} />; drag on the strip for another range.
          </p>
          <DifferencePanel difference={difference} />
        </>
      )}
    </Answer>
  );
}

export function DifferencePanel({ difference }: { readonly difference: Difference }) {
  const { classes, unchanged, warnings, onlyBefore, onlyAfter, refused, markdown, command } = difference;
  return (
    <>
      <div class="bar">
        <strong>
          {classes.length === 0
            ? 'Nothing differs for any proxy'
            : `${counted(classes.length, 'class', 'classes')} of proxies change`}
        </strong>
        <span class="muted">{counted(unchanged, 'proxy stays', 'proxies stay')} the same</span>
        <span class="grow" />
        <CopyButton text={markdown} what="Copy as Markdown" />
        <CopyButton text={command} what="Copy the command" />
      </div>
      {refused.map(line => (
        <p key={line} class="note danger">
          Not accepted: {line}
        </p>
      ))}
      <Warnings warnings={warnings} />
      {onlyBefore.length > 0 && <p class="muted break">Gone: {onlyBefore.join(', ')}</p>}
      {onlyAfter.length > 0 && <p class="muted break">New: {onlyAfter.join(', ')}</p>}
      <div class="classes">
        <Classes classes={classes} open={classes.length === 1} />
      </div>
    </>
  );
}

/** Asked again this long after the last key. */
const TYPING_MS = 500;
/** A longer text is not put in the address: a link has its limits. */
const LINK_CHARS_MAX = 20_000;

function WhatIf() {
  const { at } = useApp();
  const { param, set } = useGoing();
  const edit = param('edit');
  const original = useAnswer<ObjectView>(edit === undefined ? undefined : urlOf('object', { object: edit, at }), false);
  const [shown, setShown] = useState({ text: param('yaml') ?? '', revision: 0 });
  const [asked, setAsked] = useState(shown.text);
  const [deletions, setDeletions] = useState<readonly string[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const started = useRef(param('yaml') !== undefined);
  /** In place of the editor's text, which then is asked about like what is typed. */
  const show = (text: string): void => setShown(({ revision }) => ({ text, revision: revision + 1 }));
  const before = original.data?.yaml;
  useEffect(() => {
    if (before === undefined || started.current) return;
    started.current = true;
    show(before);
  }, [before]);
  const typed = (next: string): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setAsked(next);
      set({ yaml: next === before || next.length > LINK_CHARS_MAX ? undefined : next });
    }, TYPING_MS);
  };
  const isEdited = asked.trim() !== '' && asked !== before;
  return (
    <>
      <p class="muted">
        Objects to add, or to put in place of those of the same name, at #{at}. Paste or type YAML, or drop a file.
        Nothing is applied.
      </p>
      <div class="what-if">
        <section>
          {original.fault !== undefined && <p class="note danger">{original.fault}</p>}
          <YamlEditor label="Objects as YAML" shown={shown} hint="kind: VirtualService …" onChange={typed} />
          {edit !== undefined && (
            <p class="bar">
              <label>
                <input
                  type="checkbox"
                  checked={deletions.includes(edit)}
                  onChange={event => setDeletions(event.currentTarget.checked ? [edit] : [])}
                />{' '}
                delete {edit} instead
              </label>
              {isEdited && (
                <button type="button" onClick={() => show(before ?? '')}>
                  Back to the original
                </button>
              )}
            </p>
          )}
        </section>
        <section aria-live="polite">
          {isEdited || deletions.length > 0 ? (
            <Asked yaml={deletions.length > 0 ? '' : asked} deletions={deletions} />
          ) : (
            <p class="empty">What differs for the proxies is shown here.</p>
          )}
        </section>
      </div>
    </>
  );
}

interface AskedProps {
  readonly yaml: string;
  readonly deletions: readonly string[];
}

function Asked({ yaml, deletions }: AskedProps) {
  const { at } = useApp();
  const [state, setState] = useState<Partial<Answered<Difference>>>({});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = (done: number, of: number): void => {
      if (!signal.aborted) setState(before => ({ ...before, progress: { done, of } }));
    };
    send<Difference>(urlOf('what-if', { at }), { yaml, delete: deletions }, { signal, onProgress }).then(
      data => setState({ data }),
      (error: unknown) => {
        if (signal.aborted) return;
        setState({ fault: error instanceof ApiFault ? error.message : String(error) });
      },
    );
    return () => controller.abort();
  }, [yaml, deletions, at]);
  return (
    <Answer of={{ data: undefined, fault: undefined, stale: false, ...state }} what="Making the mesh with it">
      {difference => <DifferencePanel difference={difference} />}
    </Answer>
  );
}
