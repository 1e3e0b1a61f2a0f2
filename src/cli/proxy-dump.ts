// What a proxy holds, as a running control plane or a journal has it: for proxy-config and proxy-status.

import { isObject } from '../core/base/json.ts';
import { type ConfigDump, configDump } from '../history/config-dump.ts';
import { proxyNamed } from '../history/proxies.ts';
import { CliError } from './output.ts';
import { askServer, positionOf, type TargetOptions, tellOfPods, withHistory } from './target.ts';

/** Of a running control plane or a journal. */
export async function dumpOfProxy(proxy: string, flags: TargetOptions, types: readonly string[]): Promise<ConfigDump> {
  if (flags.journal === undefined) {
    const dump = await askServer(flags.address, '/debug/holdingsz', { proxyID: proxy, at: flags.at });
    if (isObject(dump) && Array.isArray(dump.configs)) return dump as unknown as ConfigDump;
    throw new CliError(`${flags.address} did not answer with a config dump: is it Periplus?`);
  }
  return withHistory(flags.journal, async history => {
    const state = await history.at(await positionOf(history, flags.at));
    tellOfPods(state);
    return configDump(history.tracker, state, proxyNamed(state, proxy), types);
  });
}
