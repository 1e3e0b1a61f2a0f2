// Which listeners, filter chains and filters a patch is for. All text is compared as it is: no wildcards, no older
// names of filters.
// Source: Istio pilot/pkg/networking/core/envoyfilter/listener_patch.go (listenerMatch, filterChainMatch).

import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import type { FilterChain, Listener } from '../../proto/types.gen.ts';

/** Their ports are those of their chains: connections to any port arrive there. */
const VIRTUAL: readonly (string | undefined)[] = ['virtualInbound', 'virtualOutbound'];

export function isForListener({ applyTo, listener: match }: EnvoyPatch, listener: Listener): boolean {
  if (match === undefined) return true;
  const { name = '', portNumber = 0 } = match;
  if (name !== '' && name !== listener.name) return false;
  if (applyTo !== 'LISTENER' && VIRTUAL.includes(listener.name)) return true;
  return portNumber === 0 || portNumber === listener.address?.socketAddress?.portValue;
}

/** For a patch that is for the listener. */
export function isForChain({ listener: match }: EnvoyPatch, { name }: Listener, chain: FilterChain): boolean {
  if (match === undefined) return true;
  const { portNumber = 0, filterChain } = match;
  const on = chain.filterChainMatch;
  const port = on?.destinationPort?.value;
  if (VIRTUAL.includes(name) && portNumber > 0 && port !== portNumber) return false;
  if (filterChain === undefined) return true;
  const { sni = '', transportProtocol = '', applicationProtocols = '', destinationPort = 0 } = filterChain;
  const wanted = filterChain.name ?? '';
  return (
    (wanted === '' || wanted === chain.name) &&
    (sni === '' || on?.serverNames?.includes(sni) === true) &&
    (transportProtocol === '' || transportProtocol === on?.transportProtocol) &&
    (applicationProtocols === '' ||
      applicationProtocols.split(',').every(one => on?.applicationProtocols?.includes(one) === true)) &&
    (destinationPort === 0 || destinationPort === port)
  );
}

interface Named {
  readonly name?: string | undefined;
}
type IsNamed = (filter: Named) => boolean;

/** undefined: the match names no such filter, which restricts nothing. */
export function listenerFilterOf({ listener }: EnvoyPatch): IsNamed | undefined {
  const wanted = listener?.listenerFilter ?? '';
  return wanted === '' ? undefined : ({ name }) => name === wanted;
}

export function networkFilterOf({ listener }: EnvoyPatch): IsNamed | undefined {
  const filter = listener?.filterChain?.filter;
  return filter === undefined ? undefined : ({ name = '' }) => name === (filter.name ?? '');
}

export function httpFilterOf({ listener }: EnvoyPatch): IsNamed | undefined {
  const filter = listener?.filterChain?.filter?.subFilter;
  return filter === undefined ? undefined : ({ name = '' }) => name === (filter.name ?? '');
}
