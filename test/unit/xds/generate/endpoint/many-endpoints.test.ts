// The assignment of more endpoints than are made in one run.

import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../../../src/core/model/service.ts';
import type { AssignmentInputs } from '../../../../../src/core/select/endpoint/assignment.ts';
import { noLocality } from '../../../../../src/core/select/endpoint/locality-inputs.ts';
import {
  endpointMembers,
  type LoadAssignmentInputs,
  loadAssignment,
  memberBlocks,
} from '../../../../../src/xds/generate/endpoint/assignment.ts';

function endpoint(i: number): Endpoint {
  return {
    addresses: [`10.0.${i >> 8}.${i & 255}`],
    port: 80,
    portName: 'http',
    servicePort: 0,
    labels: {},
    serviceAccount: '',
    locality: `r/${i % 3}`,
    network: '',
    cluster: 'Kubernetes',
    namespace: 'default',
    workloadName: 'web',
    nodeName: '',
    hostname: '',
    subdomain: '',
    weight: 1,
    tlsMode: 'istio',
    health: 'Healthy',
  };
}

function inputsOf(count: number): AssignmentInputs {
  const endpoints = Array.from({ length: count }, (_, i) => endpoint(i));
  return {
    clusterName: 'c',
    describedAs: undefined,
    endpoints,
    mtls: endpoints.map((_, i) => i % 2 === 0),
    tunnels: endpoints.map((_, i) => i % 5 === 0),
    throughWaypoint: [],
    vip: false,
    drainingLabel: 'istio.io/draining',
    describesWorkloads: true,
    dualStack: false,
    onlyMtls: false,
    gateways: [],
    proxyNetwork: '',
    proxyFamilies: 'ipv4',
    router: false,
    ...noLocality,
  };
}

describe('the assignment of thousands of endpoints', () => {
  it('is made in blocks, which make the same of them', () => {
    expect(memberBlocks(inputsOf(2_000))).toBeUndefined();
    const inputs = inputsOf(3_000);
    const blocks = memberBlocks(inputs)!;
    expect(blocks.map(({ endpoints }) => endpoints.length)).toEqual([512, 512, 512, 512, 512, 440]);
    const members = blocks.map(block => endpointMembers.run(block));
    expect(loadAssignment.run({ ...inputs, members })).toEqual(loadAssignment.run(inputs));
    const work = (of: LoadAssignmentInputs): number => loadAssignment.work!({} as never, of);
    expect(work({ ...inputs, members })).toBeLessThan(work(inputs) / 5);
  });
});
