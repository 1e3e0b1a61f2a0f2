// One object: its version in force, all its versions, what it does for which proxies, what it refers to.

import type {
  ObjectEffects,
  ObjectVersions,
  Reference,
  ObjectView as View,
} from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useAnswer } from '../client/use-answer.ts';
import { counted, fullTime } from '../model/time-text.ts';
import { Answer } from '../parts/answer.tsx';
import { Classes } from '../parts/change-classes.tsx';
import { Changes } from '../parts/changes.tsx';
import { EventLink, ObjectLink } from '../parts/links.tsx';
import { ObjectNames } from './object-list.tsx';
import { Change } from './why-panel.tsx';

export function ObjectView() {
  const { place } = useApp();
  const { href } = useGoing();
  return (
    <main class={`view columns object ${place.subject === '' ? '' : 'with-object'}`}>
      <ObjectNames />
      {place.subject === '' ? (
        <p class="empty wide-only">Choose an object.</p>
      ) : (
        <section class="page">
          <a class="narrow-only" href={href('object')}>
            All objects
          </a>
          <OneObject key={place.subject} object={place.subject} />
        </section>
      )}
    </main>
  );
}

function OneObject({ object }: { readonly object: string }) {
  const { at } = useApp();
  const { href } = useGoing();
  const answer = useAnswer<View>(urlOf('object', { object, at, versions: 'false' }));
  const [kind = '', namespace = '', ...name] = object.split('/');
  return (
    <>
      <div class="title">
        <h1>
          <span class="muted">{kind}</span>{' '}
          <span class="mono">
            {namespace === '' ? '' : `${namespace}/`}
            {name.join('/')}
          </span>
        </h1>
        <a href={href('timeline', '', { object })}>its events</a>
        <a href={href('what-if', '', { edit: object })}>change it, and see what differs</a>
      </div>
      <Answer of={answer} what="Reading the object">
        {view => (
          <>
            {view.lastChange === undefined ? (
              <p class="note">There is no such object at this moment.</p>
            ) : (
              <Change change={view.lastChange} />
            )}
            {view.findings.map(({ code, message, path }) => (
              <p key={`${code} ${message}`} class="note warn">
                <span class="mono">{code}</span> {message}{' '}
                {path !== undefined && <span class="mono muted">{path}</span>}
              </p>
            ))}
            {view.lastChange !== undefined && <Effects object={object} />}
            <References title="Refers to" references={view.refersTo} />
            <References title="Referred to by" references={view.referredBy} />
            <Versions object={object} />
            {view.yaml !== undefined && (
              <section class="panel">
                <h2>In force at #{view.at.seq}</h2>
                <pre>{view.yaml}</pre>
              </section>
            )}
          </>
        )}
      </Answer>
    </>
  );
}

function Effects({ object }: { readonly object: string }) {
  const { at } = useApp();
  const answer = useAnswer<ObjectEffects>(urlOf('object/effect', { object, at }));
  return (
    <section class="panel">
      <h2>What it does</h2>
      <Answer of={answer} what="Comparing the mesh without it and with it">
        {({ classes, obstacles, unchanged }) => (
          <>
            {obstacles.map(({ why, lastChange }) => (
              <div key={why}>
                <p class="warn">{why}</p>
                {lastChange !== undefined && <Change change={lastChange} />}
              </div>
            ))}
            {classes.length === 0 && obstacles.length === 0 && <p class="muted">Nothing for any connected proxy.</p>}
            <Classes classes={classes} />
            {classes.length > 0 && (
              <p class="muted">{counted(unchanged, 'proxy', 'proxies')} would be the same without it.</p>
            )}
          </>
        )}
      </Answer>
    </section>
  );
}

function References({ title, references }: { readonly title: string; readonly references: readonly Reference[] }) {
  if (references.length === 0) return null;
  return (
    <section class="panel scroll">
      <h2>{title}</h2>
      <table class="dense fit">
        <tbody>
          {references.map(({ object, path, exists }) => (
            <tr key={`${object} ${path}`}>
              <td>
                {exists ? (
                  <ObjectLink object={object} />
                ) : (
                  <span class="danger mono break">✕ {object}: there is none</span>
                )}
              </td>
              <td class="mono muted break">{path}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const TONES: Readonly<Record<string, string>> = { refused: 'danger', deleted: 'warn' };

const isIndexed = ({ more, index }: ObjectVersions): boolean => more || index.complete;

function Versions({ object }: { readonly object: string }) {
  const { head } = useApp();
  const answer = useAnswer<ObjectVersions>(urlOf('object/versions', { object, to: head.seq }), true, isIndexed);
  return (
    <Answer of={answer} what="Looking for its versions">
      {found => <VersionList found={found} />}
    </Answer>
  );
}

function VersionList({ found }: { readonly found: ObjectVersions }) {
  const { at } = useApp();
  const { href } = useGoing();
  const { versions, more, index } = found;
  return (
    <section class="panel">
      <h2>{counted(versions.length, 'version')}, newest first</h2>
      {versions.map(({ row, change, changes, problems }, i) => (
        <details key={row.seq} class={`version ${row.seq > at ? 'muted' : ''}`} open={i === 0 && versions.length > 1}>
          <summary>
            <EventLink seq={row.seq} /> <span class="mono">{fullTime(row.time)}</span>{' '}
            <span class={TONES[change] ?? ''}>{change}</span>{' '}
            {row.manager !== '' && <span class="tag">{row.manager}</span>} <span class="muted">{row.source}</span>
          </summary>
          <div class="version-body">
            {problems.map(problem => (
              <p key={problem} class="danger">
                {problem}
              </p>
            ))}
            {change === 'changed' && <Changes changes={changes} />}
            <a href={href('what-if', '', { from: String(Math.max(0, row.seq - 1)), at: String(row.seq) })}>
              What it changed for proxies
            </a>
          </div>
        </details>
      ))}
      {more && <p class="muted">Older versions are not listed.</p>}
      {!isIndexed(found) && <p class="muted">Events before #{index.from} are still being indexed.</p>}
    </section>
  );
}
