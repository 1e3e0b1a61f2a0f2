// First requests of streams that are let in at once, over real connections: few are read in a tick, in order, and a
// stream whose client left meanwhile is none.

import { describe, expect, test } from 'vitest';
import { FIRST_REQUESTS_PER_TICK } from '../../src/xds/grpc/server.ts';
import { CDS } from '../../src/xds/session/types.ts';
import { countLoopTurns } from '../unit/loop-turns.ts';
import { node } from './ads-client.ts';
import { client, rig, until } from './server-rig.ts';

const STREAMS = 5 * FIRST_REQUESTS_PER_TICK;

/** Streams wait until `letIn`. `log`: what is read of a proxy, and '-' for each turn of the event loop. */
async function crowd() {
  const { host, server, port } = await rig();
  await host.set('cds', { a: '1' });
  const log: string[] = [];
  let letIn: () => void = () => undefined;
  const held = new Promise<void>(resolve => {
    letIn = resolve;
  });
  let entered = 0;
  const name = host.connectionName.bind(host);
  Object.assign(host, {
    caughtUp: () => {
      entered++;
      return held;
    },
    connectionName: (proxy: string) => {
      log.push(proxy);
      return name(proxy);
    },
  });
  const clients = Array.from({ length: STREAMS }, () => client(port, 'delta'));
  for (const one of clients) one.send({ node, typeUrl: CDS });
  await until(() => entered === STREAMS);
  const loop = countLoopTurns(() => log.push('-'));
  return { host, server, clients, log, letIn, loop };
}

describe('first requests', () => {
  test('of streams that are let in at once are read in several ticks', async () => {
    const { clients, log, letIn, loop } = await crowd();
    letIn();
    await until(() => log.filter(entry => entry !== '-').length === STREAMS);
    loop.stop();
    const perTurn = log
      .join('')
      .split('-')
      .map(names => names.length / 'web.ns'.length);
    expect(Math.max(...perTurn)).toBe(FIRST_REQUESTS_PER_TICK);
    for (const one of clients) expect((await one.next()).resources).toHaveLength(1);
  });

  test('whose clients are gone by their turn are not read, and their streams are closed', async () => {
    const { host, server, clients, letIn, loop } = await crowd();
    loop.stop();
    letIn();
    for (const one of clients.slice(0, -1)) one.close();
    expect((await clients.at(-1)!.next()).resources).toHaveLength(1);
    await until(() => server.connections().length === 1);
    await until(() => host.facts('ProxyConnected').length - host.facts('ProxyDisconnected').length === 1);
    expect(server.isCrowded).toBe(false);
  });
});
