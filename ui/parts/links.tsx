// References that lead somewhere: an object, an event, a proxy. Everywhere the same words and the same looks.

import { useGoing } from '../app-state.ts';
import { clockTime } from '../model/time-text.ts';

/** `object`: `Kind/namespace/name`. */
export function ObjectLink({ object, at }: { readonly object: string; readonly at?: number }) {
  const { href } = useGoing();
  const [kind = '', namespace = '', ...name] = object.split('/');
  return (
    <a class="mono break" href={href('object', object, at === undefined ? {} : { at: String(at) })} title={object}>
      {kind} {namespace === '' ? '' : `${namespace}/`}
      {name.join('/')}
    </a>
  );
}

/** An event in the timeline; the moment moves there. */
export function EventLink({ seq, time }: { readonly seq: number; readonly time?: number }) {
  const { href } = useGoing();
  return (
    <a class="mono" href={href('timeline', '', { event: String(seq), at: String(seq) })}>
      #{seq}
      {time === undefined ? '' : ` ${clockTime(time)}`}
    </a>
  );
}

export function ProxyLink({ proxy, at }: { readonly proxy: string; readonly at?: number }) {
  const { href } = useGoing();
  return (
    <a class="mono break" href={href('proxy', proxy, at === undefined ? {} : { at: String(at) })}>
      {proxy}
    </a>
  );
}
