// The timeline's filter as the address has it, and as the server takes it.

/** Parameters of the address that filter events. */
export const FILTERS: readonly string[] = ['kind', 'source', 'manager', 'ns', 'object', 'q'];

export interface FilterQuery {
  readonly kind?: readonly string[];
  readonly source?: readonly string[];
  readonly manager?: readonly string[];
  readonly namespace?: readonly string[];
  readonly object?: readonly string[];
  readonly text?: string;
  readonly [name: string]: string | readonly string[] | undefined;
}

export function filterQuery({ kind, source, manager, ns, object, q }: Readonly<Record<string, string>>): FilterQuery {
  return {
    ...(kind === undefined ? {} : { kind: namesIn(kind) }),
    ...(source === undefined ? {} : { source: namesIn(source) }),
    ...(manager === undefined ? {} : { manager: namesIn(manager) }),
    ...(ns === undefined ? {} : { namespace: namesIn(ns) }),
    ...(object === undefined ? {} : { object: namesIn(object) }),
    ...(q === undefined ? {} : { text: q }),
  };
}

export function passesAll(filter: FilterQuery): boolean {
  return Object.values(filter).every(wanted => wanted === undefined || wanted.length === 0);
}

export function namesIn(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split(',');
}

/** With the name, or without it if it was there. Empty: undefined, so that the parameter goes. */
export function toggled(text: string | undefined, name: string): string | undefined {
  const names = namesIn(text);
  const next = names.includes(name) ? names.filter(one => one !== name) : [...names, name];
  return next.length === 0 ? undefined : next.join(',');
}
