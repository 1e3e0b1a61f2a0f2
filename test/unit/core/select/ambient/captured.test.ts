// Which endpoints take HBONE tunnels.
// Source of the rules: Istio pilot/pkg/model/push_context.go (SupportsTunnel, AllInstancesSupportHBONE).

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Endpoint } from '../../../../../src/core/model/service.ts';
import { untrackedReader } from '../../../../../src/core/query/untracked.ts';
import { allCaptured, isCaptured } from '../../../../../src/core/select/ambient/captured.ts';
import { ask, type WorldPart } from '../../../world.ts';
import { pod, service, slice, workloadEntry } from '../../registry/fixtures.ts';
import { ambientWorld, namespace } from './fixtures.ts';

const annotations = { 'ambient.istio.io/redirection': 'enabled' };
const tunnel = { 'networking.istio.io/tunnel': 'http' };
const local = namespace('istio-system', { 'topology.istio.io/network': 'n1' });

function captured(parts: readonly WorldPart[], endpoint: Partial<Endpoint>): boolean {
  const whole = { labels: {}, network: 'n1', addresses: ['10.0.0.1'], ...endpoint } as Endpoint;
  return isCaptured(untrackedReader(ambientWorld([local, ...parts])), whole);
}

describe('an endpoint takes tunnels', () => {
  it('if its own labels say so', () => {
    expect(captured([], { labels: tunnel })).toBe(true);
    expect(captured([], { labels: { 'networking.istio.io/tunnel': 'h2' } })).toBe(false);
  });

  it('if a pod of the cluster’s network that is captured has one of its addresses', () => {
    const pods = [pod('p', '10.0.0.1', { annotations })];
    expect(captured(pods, {})).toBe(true);
    expect(captured(pods, { addresses: ['fd00::1', '10.0.0.1'] })).toBe(true);
    expect(captured(pods, { addresses: ['10.0.0.2'] })).toBe(false);
    expect(captured(pods, { network: 'n2' })).toBe(false);
    expect(captured([pod('p', '10.0.0.1')], {})).toBe(false);
  });

  it('if a WorkloadEntry in its network has its address, and is captured or takes tunnels itself', () => {
    const entry = (spec: JsonObject, meta = {}): readonly JsonObject[] => [
      workloadEntry('vm', { address: '10.0.0.1', ...spec }, meta),
    ];
    expect(captured(entry({ network: 'n2' }, { annotations }), { network: 'n2' })).toBe(true);
    expect(captured(entry({ network: 'n2' }, { annotations }), {})).toBe(false);
    expect(captured(entry({}, { annotations }), {})).toBe(true);
    expect(captured(entry({}, { annotations }), { network: 'n2' })).toBe(false);
    expect(captured(entry({ labels: tunnel }), {})).toBe(true);
    expect(captured(entry({}, { labels: tunnel }), {})).toBe(true);
    expect(captured(entry({ labels: tunnel }, { labels: { 'networking.istio.io/tunnel': '' } }), {})).toBe(false);
    expect(captured(entry({}), {})).toBe(false);
  });

  it('not because a captured WorkloadEntry has the same host name in place of an address', () => {
    const entry = workloadEntry('vm', { address: 'vm.example' }, { annotations });
    expect(captured([entry], { addresses: ['vm.example'] })).toBe(false);
  });
});

describe('of the endpoints of a port', () => {
  const all = (...pods: readonly JsonObject[]): boolean => {
    const ends = pods.map((_, i) => ({ ip: `10.0.0.${i + 1}`, pod: `p${i + 1}` }));
    const state = ambientWorld([service('web'), slice('web', ends), ...pods]);
    return ask(state, allCaptured, { hostname: 'web.default.svc.cluster.local', namespace: 'default', port: 80 });
  };
  const one = pod('p1', '10.0.0.1', { annotations });
  it('all take tunnels, some, or there are none', () => {
    expect(all(one, pod('p2', '10.0.0.2', { annotations }))).toBe(true);
    expect(all(one, pod('p2', '10.0.0.2'))).toBe(false);
    expect(all(pod('p1', '10.0.0.1'), pod('p2', '10.0.0.2', { annotations }))).toBe(false);
    expect(all()).toBe(false);
  });
});
