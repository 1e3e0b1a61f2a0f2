// What the address says: the hash holds everything that decides what is on screen, so a copied link reopens exactly
// this view. `#/proxy/productpage-v1.shop?at=112&type=route`: the view, its subject, parameters.
//
// Invariant: format(parse(hash)) is canonical (sorted parameters, none empty), and parse never throws, whatever the
// hash holds: links come from chats and mails.

export const VIEWS = ['timeline', 'mesh', 'proxy', 'object', 'what-if', 'push', 'bisect'] as const;
export type View = (typeof VIEWS)[number];

export interface Place {
  readonly view: View;
  /** A proxy's id, an object's `Kind/namespace/name`, a seq; empty: none chosen. */
  readonly subject: string;
  readonly params: Readonly<Record<string, string>>;
}

/** Undefined or empty removes a parameter. */
export type ParamChanges = Readonly<Record<string, string | undefined>>;

/** Longer hashes are cut: a link is typed text. */
const HASH_CHARS_MAX = 60_000;

/** Parameters that hold for every view: the moment, the moment it is compared with, and how the strip is drawn. */
export const SHARED_PARAMS: readonly string[] = ['at', 'from', 'zoom', 'by', 'bars'];

export function parseHash(hash: string): Place {
  const text = hash.replace(/^#\/?/, '').slice(0, HASH_CHARS_MAX);
  const [path = '', query = ''] = splitOnce(text, '?');
  const [name = '', subject = ''] = splitOnce(path, '/');
  const view = VIEWS.find(one => one === name) ?? 'timeline';
  const params: Record<string, string> = {};
  for (const pair of query.split('&')) {
    const [key = '', value = ''] = splitOnce(pair, '=').map(decoded);
    if (key !== '' && value !== '') params[key] = value;
  }
  return { view, subject: decoded(subject), params };
}

export function formatHash({ view, subject, params }: Place): string {
  const path = subject === '' ? view : `${view}/${encodeURIComponent(subject).replaceAll('%2F', '/')}`;
  const pairs = Object.keys(params)
    .filter(key => params[key] !== '')
    .sort()
    .map(key => `${encodeURIComponent(key)}=${encodeURIComponent(params[key] ?? '')}`);
  return pairs.length === 0 ? `#/${path}` : `#/${path}?${pairs.join('&')}`;
}

/** The same view with other parameters. */
export function withParams(place: Place, changes: ParamChanges): Place {
  const params: Record<string, string> = { ...place.params };
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === '') delete params[key];
    else params[key] = value;
  }
  return { ...place, params };
}

/** Another view at the same moment; parameters of the view that is left are dropped. */
export function toView(place: Place, view: View, subject = '', params: ParamChanges = {}): Place {
  const shared = Object.fromEntries(Object.entries(place.params).filter(([key]) => SHARED_PARAMS.includes(key)));
  return withParams({ view, subject, params: shared }, params);
}

/** A whole number of at least 0, else undefined. */
export function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}

function splitOnce(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
