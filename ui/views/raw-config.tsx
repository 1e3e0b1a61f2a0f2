// The raw configuration of a proxy, one type at a time, and the history of any of its resources.

import type { RawResources, ResourceHistory } from '../../src/admin/explorer/api.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { useAnswer } from '../client/use-answer.ts';
import { Answer } from '../parts/answer.tsx';
import { Changes } from '../parts/changes.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { EventLink, ObjectLink } from '../parts/links.tsx';

const TYPES = ['CDS', 'EDS', 'LDS', 'RDS', 'SDS', 'ECDS', 'NDS'];
const RESOURCES_SHOWN = 300;

export function RawConfig({ proxy }: { readonly proxy: string }) {
  const { at } = useApp();
  const { param, set } = useGoing();
  const type = param('type') ?? 'RDS';
  const name = param('name');
  const answer = useAnswer<RawResources>(urlOf('proxy/raw', { proxy, at, type }), false);
  return (
    <>
      <div class="bar">
        {TYPES.map(one => (
          <button
            key={one}
            type="button"
            aria-pressed={one === type}
            onClick={() => set({ type: one, name: undefined }, 'push')}
          >
            {one}
          </button>
        ))}
      </div>
      {name !== undefined && <History proxy={proxy} type={type} name={name} />}
      <Answer of={answer} what="Making the configuration">
        {({ configs }) => {
          const resources = configs.flatMap(config => config.resources);
          if (resources.length === 0) return <p class="empty">It has none of this type.</p>;
          return (
            <section class="panel scroll">
              {resources.slice(0, RESOURCES_SHOWN).map(({ name: own, version, resource }) => (
                <div key={own} class="raw">
                  <div class="raw-tools">
                    <span class="mono muted" title="Hash of the content">
                      {version.slice(0, 10)}
                    </span>
                    <button type="button" class="link" onClick={() => set({ name: own }, 'push')}>
                      history
                    </button>
                  </div>
                  <JsonTree value={resource} open={resources.length === 1} depth={1} />
                </div>
              ))}
              {resources.length > RESOURCES_SHOWN && (
                <p class="muted">{resources.length - RESOURCES_SHOWN} more are not shown.</p>
              )}
            </section>
          );
        }}
      </Answer>
    </>
  );
}

interface HistoryProps {
  readonly proxy: string;
  readonly type: string;
  readonly name: string;
}

function History({ proxy, type, name }: HistoryProps) {
  const { head } = useApp();
  const { set } = useGoing();
  const answer = useAnswer<ResourceHistory>(urlOf('proxy/history', { proxy, type, name, to: head.seq }), false);
  return (
    <section class="panel">
      <div class="title">
        <h2>
          History of {type} <span class="mono break">{name}</span>
        </h2>
        <button type="button" class="link" onClick={() => set({ name: undefined })}>
          close
        </button>
      </div>
      <Answer of={answer} what="Making it at every change">
        {({ versions }) =>
          versions.length === 0 ? (
            <p class="muted">The proxy never had it.</p>
          ) : (
            versions.map(({ at, change, changes, causes, version }) => (
              <details key={at.seq} class="version">
                <summary>
                  <EventLink seq={at.seq} time={at.time} /> {change}{' '}
                  <span class="muted mono">{version.slice(0, 10)}</span>{' '}
                  {[...new Set(causes.map(({ manager }) => manager).filter(Boolean))].map(manager => (
                    <span key={manager} class="tag">
                      {manager}
                    </span>
                  ))}
                </summary>
                {causes.map(({ seq, object }) => (
                  <p key={seq}>
                    <EventLink seq={seq} /> {object !== '' && <ObjectLink object={object} at={seq} />}
                  </p>
                ))}
                {change === 'changed' && <Changes changes={changes} />}
              </details>
            ))
          )
        }
      </Answer>
    </section>
  );
}
