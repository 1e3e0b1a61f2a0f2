// Differences field by field: what was, what is. A sign stands before each line, so no colour has to be seen.

import type { Json, JsonChange } from '../../src/admin/explorer/api.ts';

/** Shown at once; the rest on request. */
const CHANGES_SHOWN = 40;
const VALUE_CHARS_MAX = 4_000;

export function Changes({ changes }: { readonly changes: readonly JsonChange[] }) {
  if (changes.length === 0) return <p class="muted">No field differs.</p>;
  const rest = changes.slice(CHANGES_SHOWN);
  return (
    <div class="changes">
      {changes.slice(0, CHANGES_SHOWN).map(change => (
        <Change key={change.path} change={change} />
      ))}
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more</summary>
          {rest.map(change => (
            <Change key={change.path} change={change} />
          ))}
        </details>
      )}
    </div>
  );
}

function Change({ change: { path, before, after, reordered } }: { readonly change: JsonChange }) {
  return (
    <div class="change">
      <div class="path mono break">
        {path === '' ? 'everything' : path}
        {reordered === true && <span class="muted"> only reordered</span>}
      </div>
      {before !== undefined && <pre class="wrap before">− {valueText(before)}</pre>}
      {after !== undefined && <pre class="wrap after">+ {valueText(after)}</pre>}
    </div>
  );
}

export function valueText(value: Json): string {
  const text =
    typeof value === 'object' && value !== null ? JSON.stringify(value, undefined, 1) : JSON.stringify(value);
  const flat = text.length <= 120 ? text.replace(/\n\s*/g, ' ') : text;
  return flat.length > VALUE_CHARS_MAX ? `${flat.slice(0, VALUE_CHARS_MAX)} …` : flat;
}
