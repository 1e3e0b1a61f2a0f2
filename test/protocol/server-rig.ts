// An ADS server on loopback with a host in memory, and clients of it; all of it closed at the end of the test.

import { afterEach, expect } from 'vitest';
import { Engine } from '../../src/xds/engine/engine.ts';
import { PlainPort } from '../../src/xds/grpc/plain-port.ts';
import { XdsServer } from '../../src/xds/grpc/server.ts';
import { defaultScheduleSettings } from '../../src/xds/push/settings.ts';
import { defaultXdsLimits, type XdsLimits } from '../../src/xds/serve/limits.ts';
import { AdsClient } from './ads-client.ts';
import { MemoryHost, testSources } from './memory-host.ts';

export interface Rig {
  readonly host: MemoryHost;
  readonly server: XdsServer;
  readonly engine: Engine;
  readonly port: number;
}

/** What a test has to close; the last comes first. */
export const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

export async function rig(limits: Partial<XdsLimits> = {}): Promise<Rig> {
  const host = new MemoryHost();
  const engine = new Engine(testSources);
  const server = new XdsServer({
    host,
    engine,
    limits: { ...defaultXdsLimits, newStreamsPerSecond: 1_000, ...limits },
    schedule: { ...defaultScheduleSettings, debounceAfterMs: 5 },
  });
  host.onPush = request => server.push(request);
  const plain = new PlainPort(server, { clock: host.clock, log: () => undefined });
  const port = await plain.listen('127.0.0.1', 0);
  closing.push(
    () => server.stop(500),
    () => plain.close(),
  );
  return { host, server, engine, port };
}

export function client(port: number, protocol: 'sotw' | 'delta'): AdsClient {
  const made = new AdsClient(port, protocol);
  closing.push(() => made.close());
  return made;
}

/** Of 10 ms and more: a minute, which only what never comes takes. */
const UNTIL_TURNS_MAX = 6_000;

export async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < UNTIL_TURNS_MAX && !holds(); i++) await new Promise<void>(resolve => setTimeout(resolve, 10));
  expect(holds()).toBe(true);
}
