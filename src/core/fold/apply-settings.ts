// The settings of the process, which may differ at each start: what of the state follows from them is made anew.

import { canonicalJson } from '../base/json.ts';
import { type Settings, settingsToJson } from '../mesh/settings.ts';
import type { ProxyRecord } from '../model/proxy.ts';
import type { State } from '../state.ts';
import { facetsOf } from './apply-proxy.ts';
import { refilter } from './in-force.ts';

/** The same settings object when they say the same, so that nobody who read them is looked at again. */
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
