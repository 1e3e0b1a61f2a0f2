// What differs, for each class of proxies: sentences first, warnings in red, then the fields.

import type { ChangeClass, DiffWarning } from '../../src/admin/explorer/api-questions.ts';
import { counted } from '../model/time-text.ts';
import { Changes } from './changes.tsx';
import { JsonTree } from './json-tree.tsx';
import { ProxyLink } from './links.tsx';

const PROXIES_SHOWN = 8;
const RESOURCES_SHOWN = 60;

export function Classes({
  classes,
  open = false,
}: {
  readonly classes: readonly ChangeClass[];
  readonly open?: boolean;
}) {
  return (
    <>
      {classes.map(one => (
        <Class key={one.proxies.join()} one={one} open={open} />
      ))}
    </>
  );
}

export function Warnings({ warnings }: { readonly warnings: readonly DiffWarning[] }) {
  return (
    <>
      {warnings.map(({ kind, message }) => (
        <p key={message} class={`note ${kind === 'order-only' ? 'warn' : 'danger'}`}>
          {message}
        </p>
      ))}
    </>
  );
}

function Class({ one, open }: { readonly one: ChangeClass; readonly open: boolean }) {
  const { proxies, summary, warnings, access, resources } = one;
  return (
    <section class="class">
      <h3>
        {counted(proxies.length, 'proxy', 'proxies')}:{' '}
        {proxies.slice(0, PROXIES_SHOWN).map((proxy, i) => (
          <span key={proxy}>
            {i > 0 && ', '}
            <ProxyLink proxy={proxy} />
          </span>
        ))}
        {proxies.length > PROXIES_SHOWN && ` and ${proxies.length - PROXIES_SHOWN} more`}
      </h3>
      <Warnings warnings={warnings} />
      <ul class="sentences">
        {summary.map(sentence => (
          <li key={sentence} class="break">
            {sentence}
          </li>
        ))}
      </ul>
      {access.changes.length > 0 && (
        <ul class="sentences">
          {access.changes.map(({ direction, message, policy, caller }) => (
            <li key={`${direction} ${caller} ${message}`} class={direction === 'opens' ? 'warn' : ''}>
              {direction}: {message} {policy !== '' && <span class="mono muted">{policy}</span>}
            </li>
          ))}
        </ul>
      )}
      <details open={open}>
        <summary>{counted(resources.length, 'resource')}, field by field</summary>
        {resources.slice(0, RESOURCES_SHOWN).map(({ typeUrl, name, change, changes, before, after }) => (
          <details key={`${typeUrl} ${name}`} class="version" open={resources.length <= 3}>
            <summary>
              {change} <span class="muted">{shortType(typeUrl)}</span> <span class="mono break">{name}</span>
            </summary>
            <div class="version-body">
              {change === 'changed' ? (
                <Changes changes={changes} />
              ) : (
                <JsonTree value={after ?? before ?? null} depth={1} />
              )}
            </div>
          </details>
        ))}
        {resources.length > RESOURCES_SHOWN && <p class="muted">{resources.length - RESOURCES_SHOWN} more</p>}
      </details>
    </section>
  );
}

export function shortType(typeUrl: string): string {
  return typeUrl.split('.').at(-1) ?? typeUrl;
}
