// JSON as people read it: folded below the second level, every name and value as text.

import type { Json } from '../../src/admin/explorer/api.ts';

const OPEN_DEPTH = 2;
/** Members of one list or object that are shown. */
const MEMBERS_MAX = 500;

interface JsonTreeProps {
  readonly value: Json;
  readonly name?: string;
  readonly depth?: number;
  readonly open?: boolean;
}

export function JsonTree({ value, name, depth = 0, open }: JsonTreeProps) {
  if (typeof value !== 'object' || value === null) {
    return (
      <div class="json-line">
        <Name name={name} />
        <span class={`json-${typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined) as [string, Json][];
  if (members.length === 0) {
    return (
      <div class="json-line">
        <Name name={name} />
        <span class="muted">{isList ? '[]' : '{}'}</span>
      </div>
    );
  }
  return (
    <details class="json" open={open ?? depth < OPEN_DEPTH}>
      <summary>
        <Name name={name} />
        <span class="muted">{isList ? `[${members.length}]` : titleOf(value as Readonly<Record<string, Json>>)}</span>
      </summary>
      <div class="json-members">
        {members.slice(0, MEMBERS_MAX).map(([key, member]) => (
          <JsonTree key={key} value={member} name={key} depth={depth + 1} />
        ))}
        {members.length > MEMBERS_MAX && <div class="muted">{members.length - MEMBERS_MAX} more</div>}
      </div>
    </details>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  return name === undefined ? null : <span class="json-name">{name}: </span>;
}

/** What a folded object calls itself. */
function titleOf(value: Readonly<Record<string, Json>>): string {
  return typeof value.name === 'string' ? `{ ${value.name} }` : '{…}';
}
