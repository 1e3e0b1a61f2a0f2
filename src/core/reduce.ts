// reduce: the fold of the journal. Total and pure: (state, event) → [state, effects]. It decides nothing about xDS; it
// keeps the facts and requests pushes.

import { produce } from 'immer';
import { unreachable } from './base/assert.ts';
import type { Event, WorldEntryFolded } from './event.ts';
import { meshConfigHandler, meshNetworksHandler } from './fold/apply-mesh.ts';
import { applyObject, removeObject } from './fold/apply-object.ts';
import { connectProxy, disconnectProxy, internValue, nackProxy, subscribeProxy } from './fold/apply-proxy.ts';
import { withSettings } from './fold/apply-settings.ts';
import { withList } from './fold/name-lists.ts';
import type { Reduced } from './fold/reduced.ts';
import { settingsFromJson } from './mesh/settings.ts';
import type { WorldPosition } from './model/world-position.ts';
import { pushRequest } from './push-request.ts';
import type { State } from './state.ts';

/** With `ask` false no handler is called: for states of the past, which serve no proxy. */
export function reduce(before: State, event: Event, ask = true): Reduced {
  const state: State = { ...before, seq: event.seq, time: event.time };
  switch (event.kind) {
    case 'Add':
    case 'Update':
      return applyObject(state, event, ask);
    case 'Delete':
      return removeObject(state, event, ask);
    case 'Synced':
      return [{ ...state, synced: state.synced.with(event.source, event.seq) }, []];
    case 'Malformed':
      return [recordMalformed(state, event), []];
    case 'MeshConfig':
      return meshConfigHandler(state, event);
    case 'MeshNetworks':
      return meshNetworksHandler(state, event);
    case 'Engine':
      return [
        withSettings(state, settingsFromJson(event.settings)),
        [{ kind: 'Push', request: pushRequest(event.seq, 'global', [], { full: true, forced: true }) }],
      ];
    case 'Interned':
      return internValue(state, event);
    case 'Names':
      return [{ ...state, nameLists: withList(state.nameLists, event.digest, event.names) }, []];
    case 'ProxyConnected':
      return connectProxy(state, event);
    case 'ProxySubscribed':
      return subscribeProxy(state, event);
    case 'ProxyNacked':
      return nackProxy(state, event);
    case 'ProxyDisconnected':
      return disconnectProxy(state, event);
    case 'Rejected':
      return [{ ...state, rejected: state.rejected.with(String(event.rejected), event.reason) }, []];
    case 'WorldEntry':
      return [{ ...state, worldLog: advanced(state.worldLog, event) }, []];
    case 'TimerFired':
    case 'Gap':
    case 'Receipt':
    case 'CertificateIssued':
    case 'CertificateRefused':
      return [state, []];
    default:
      return unreachable(event);
  }
}

export function advanced(before: WorldPosition | undefined, entry: WorldEntryFolded): WorldPosition {
  const { log, position, chain, ignored } = entry;
  const begins = entry.begins === true && ignored === undefined;
  return {
    log,
    position,
    chain,
    term: begins ? entry.term : (before?.term ?? 0),
    leader: begins ? entry.writer : (before?.leader ?? ''),
    facts: (before?.facts ?? 0) + entry.facts,
  };
}

function recordMalformed(state: State, event: Event & { readonly kind: 'Malformed' }): State {
  const { source, origin, reasons, ignored = [], seq } = event;
  const key = `${source}|${origin.file}`;
  const record = { origin, reasons, at: seq, ...(ignored.length === 0 ? {} : { ignored }) };
  return produce(state, draft => {
    draft.malformed = (
      reasons.length + ignored.length === 0 ? state.malformed.without(key) : state.malformed.with(key, record)
    ) as typeof draft.malformed;
  });
}
