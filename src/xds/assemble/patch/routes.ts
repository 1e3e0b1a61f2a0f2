// A route configuration with the patches of the proxy: the identical one if none is for it.

import type { ProxyReader } from '../../../core/query/reader.ts';
import type { PatchContext } from '../../../core/select/patch/envoy-patch.ts';
import { serverPorts } from '../../../core/select/patch/gateway-ports.ts';
import { routePatches } from '../../../core/select/patch/proxy-patches.ts';
import type { Patched } from '../../generate/patch/outcome.ts';
import { assembledConfiguration, patchedConfiguration, patchedHost } from '../../generate/patch/route.ts';
import type { RouteConfiguration, VirtualHost } from '../../proto/types.gen.ts';
import { kept } from './kept.ts';

export interface PatchedRoutes {
  readonly configuration: RouteConfiguration;
  /** The effect of the patches, step by step. */
  readonly steps: readonly Patched<unknown>[];
}

export function patchedRoutes(
  reader: ProxyReader,
  configuration: RouteConfiguration,
  context: PatchContext,
): PatchedRoutes {
  const patches = reader.get(routePatches, context);
  if (patches === undefined) return { configuration, steps: [] };
  const ports = context === 'GATEWAY' ? reader.get(serverPorts, configuration.name ?? '') : undefined;
  const whole = reader.make(patchedConfiguration, { configuration, patches, serverPorts: ports });
  const { hostPatches, added } = whole;
  const result = kept(reader, configuration, { ...whole, acted: whole.merged }) ?? configuration;
  if (hostPatches === undefined && added.length === 0) return { configuration: result, steps: [whole] };
  const steps: Patched<unknown>[] = [whole];
  const before = result.virtualHosts ?? [];
  const hosts: VirtualHost[] = [];
  const removed: string[] = [];
  for (const host of before) {
    const patched = hostPatches === undefined ? undefined : reader.make(patchedHost, { host, ...hostPatches });
    if (patched !== undefined) steps.push(patched);
    if (patched?.removed !== undefined) removed.push(patched.removed);
    const after = patched === undefined ? host : kept(reader, host, patched);
    if (after !== undefined) hosts.push(after);
  }
  const same = added.length === 0 && hosts.length === before.length && hosts.every((host, i) => host === before[i]);
  if (same) return { configuration: result, steps };
  return {
    configuration: reader.make(assembledConfiguration, { configuration: result, hosts, added, removed }),
    steps,
  };
}
