// The settings of the process, which may differ at each start: the dependent parts of the state are computed again.

import { canonicalJson } from '../base/json.ts';
import { type Settings, settingsToJson } from '../mesh/settings.ts';
import type { ProxyRecord } from '../model/proxy.ts';
import type { State } from '../state.ts';
import { facetsOf } from './apply-proxy.ts';
import { refilter } from './in-force.ts';

/** The old settings object when the content is equal, so that no query runs again. */
export function withSettings(before: State, given: Settings): State {
  const same = canonicalJson(settingsToJson(given)) === canonicalJson(settingsToJson(before.settings));
  if (same) return before;
  const state: State = { ...before, settings: given };
  const { proxies } = state;
  let renamed = proxies;
  for (const [connection, proxy] of proxies.entries()) {
    const facets = facetsOf(given, proxy.node);
    if ('error' in facets || facets.clusterId === proxy.facets.clusterId) continue;
    const moved: ProxyRecord = { ...proxy, facets };
    renamed = renamed.with(connection, moved);
  }
  return refilter({ ...state, proxies: renamed });
}
