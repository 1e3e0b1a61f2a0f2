// The DNS adapter in a real control plane, with its files and its journal: what is resolved waits for what says the
// names, what was resolved is there after a restart without DNS, and a replay sends no query.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Resolve } from '../../src/adapters/dns/resolver.ts';
import { defaultSettings } from '../../src/core/mesh/settings.ts';
import { networkGateways } from '../../src/core/select/endpoint/network.ts';
import type { State } from '../../src/core/state.ts';
import { openJournal } from '../../src/journal/open.ts';
import { foldHistory } from '../../src/offline/load-state.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type ControlPlane, startControlPlane } from '../../src/runtime/control-plane.ts';
import { ask } from '../unit/world.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'periplus-dns-'));
  writeFileSync(networks(), 'networks: {far: {gateways: [{address: gate.example.com, port: 15443}]}}\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const networks = (): string => join(folder, 'networks.yaml');
const journal = (): string => join(folder, 'journal.db');
const addressesIn = (state: State): readonly string[] => ask(state, networkGateways, '').map(({ address }) => address);

function start(resolve: Resolve, asked: string[]): Promise<ControlPlane> {
  const loopback = { host: '127.0.0.1', port: 0 };
  const options = {
    networksConfig: networks(),
    grpcAddr: loopback,
    httpAddr: loopback,
    monitoringAddr: loopback,
    settings: defaultSettings,
    journal: journal(),
    journalDurability: 'off',
    journalStrict: false,
    shutdownMs: 500,
    resolve: (name: string) => {
      asked.push(name);
      return resolve(name);
    },
  } as const;
  return startControlPlane(options, systemClock, () => undefined);
}

describe('addresses of gateways given by name', () => {
  test('are resolved before the first /ready', async () => {
    const asked: string[] = [];
    const plane = await start(async () => ({ addresses: ['192.0.2.1'], ttlMs: 60_000 }), asked);
    await plane.sources.whenReady();
    expect(asked).toEqual(['gate.example.com']);
    expect(addressesIn(plane.world.state)).toEqual(['192.0.2.1']);
    await plane.stop();
  });

  test('survive a restart without DNS', async () => {
    const asked: string[] = [];
    const plane = await start(async () => ({ failed: 'ECONNREFUSED' }), asked);
    expect(plane.sources.ready).toBe(true);
    expect(addressesIn(plane.world.state)).toEqual(['192.0.2.1']);
    while (asked.length === 0) await new Promise<void>(resolve => setTimeout(resolve, 10));
    await plane.stop();
    expect(asked).toEqual(['gate.example.com']);
    expect(addressesIn(plane.world.state)).toEqual(['192.0.2.1']);
  });

  test('are the same in a replay', async () => {
    const opened = await openJournal(journal(), { clock: () => 0, durability: 'off' });
    const { state } = await foldHistory(opened, { fromSnapshot: false, onFailure: () => undefined });
    await opened.close();
    expect(addressesIn(state)).toEqual(['192.0.2.1']);
  });
});
