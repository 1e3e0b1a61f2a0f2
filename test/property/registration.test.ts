// Machines that register, under arbitrary connections, losses, probes and waits: in the end a machine has a
// WorkloadEntry exactly while it is connected, whichever way it came there, with the health that it reported last.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GRACE_MS, group, machineNode, Scene } from '../unit/adapters/registration/scene.ts';
import { parameters } from './seed.ts';

const machines = fc.constantFrom('10.0.0.1', '10.0.0.2');
const connections = fc.constantFrom('a', 'b', 'c');

const step = fc.oneof(
  fc.record({ do: fc.constant('connect' as const), ip: machines, on: connections }),
  fc.record({ do: fc.constant('leave' as const), ip: machines, on: connections }),
  fc.record({ do: fc.constant('probe' as const), ip: machines, on: connections, healthy: fc.boolean() }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, GRACE_MS / 2, GRACE_MS) }),
  fc.record({ do: fc.constant('group' as const), there: fc.boolean() }),
);

describe('a machine that registers', () => {
  it('has a WorkloadEntry exactly while it is connected, with its last health', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14, size: 'max' }), async steps => {
        const scene = await new Scene().put(group()).start();
        const open = new Map<string, Set<string>>();
        const said = new Map<string, boolean>();
        for (const one of steps) {
          if (one.do === 'wait') await scene.pass(one.ms);
          else if (one.do === 'group') {
            if (one.there) scene.put(group());
            else scene.remove('WorkloadGroup', 'vms');
            await scene.pass(0);
          } else {
            const known = open.get(one.ip) ?? new Set();
            open.set(one.ip, known);
            const connection = `${one.ip}-${one.on}`;
            // A stream without a group to register with is refused before it is a connection.
            const isGroupThere = scene.state.objects.WorkloadGroup.size > 0;
            if (one.do === 'connect' && !known.has(connection) && isGroupThere) {
              await scene.connect(connection, machineNode({}, one.ip));
              known.add(connection);
            } else if (one.do === 'leave' && known.delete(connection)) await scene.disconnect(connection);
            else if (one.do === 'probe' && known.has(connection)) {
              await scene.health(connection, one.healthy);
              said.set(one.ip, one.healthy);
            }
          }
        }
        scene.put(group());
        await scene.pass(2 * GRACE_MS);
        for (const [ip, { size }] of open) {
          const entry = scene.entry(`vms-${ip}`);
          expect(entry !== undefined).toBe(size > 0);
          const [condition] = entry?.spec.status?.conditions ?? [];
          if (condition !== undefined) expect(condition.status === 'True').toBe(said.get(ip));
        }
        const left = [...scene.state.records.values()].filter(({ kind }) => kind === 'WorkloadEntry');
        const connected = [...open.values()].filter(({ size }) => size > 0);
        expect(left.filter(({ accepted }) => accepted !== undefined)).toHaveLength(connected.length);
      }),
      parameters(100),
    );
  });
});
