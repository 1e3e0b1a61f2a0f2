// Annotations of a pod: what the webhook refuses, analysis names too.

import { describe, expect, it } from 'vitest';
import { annotationFault } from '../../../../src/admission/inject/annotations.ts';
import { annotationProblem } from '../../../../src/core/mesh/pod-annotations.ts';

const refused = (name: string, value: string): readonly boolean[] => [
  annotationFault({ [name]: value }) !== undefined,
  annotationProblem(name, value) !== undefined,
];

describe('The annotation', () => {
  it.each([
    'traffic.sidecar.istio.io/excludeInterfaces',
    'traffic.sidecar.istio.io/kubevirtInterfaces',
    'istio.io/reroute-virtual-interfaces',
  ])('%s names network interfaces', name => {
    for (const value of ['', 'eth0', ' eth0 , br-1', 'bond0.100', 'a23456789012345'])
      expect([value, ...refused(name, value)]).toEqual([value, false, false]);
    for (const value of [
      'eth0,',
      'eth0,,eth1',
      ' ',
      '0eth',
      '_a',
      'a234567890123456',
      'eth0 -d 1.2.3.4',
      'eth0;x',
      'e/1',
    ])
      expect([value, ...refused(name, value)]).toEqual([value, true, true]);
  });

  it.each([
    ['traffic.sidecar.istio.io/excludeInboundPorts', ['', ' ', '80, 90'], ['8080,', ',', '80,,90', '65536', '-1']],
    ['traffic.sidecar.istio.io/includeInboundPorts', ['*', '', '80'], ['*,80', '80,']],
    ['status.sidecar.istio.io/port', ['15020', ' 15020'], ['', ' ', '1,2', '1,', 'x']],
    [
      'traffic.sidecar.istio.io/excludeOutboundIPRanges',
      ['', '10.0.0.0/8,fd00::/8'],
      ['10.0.0.0/8, 10.1.0.0/16', ' 10.0.0.0/8', '10.0.0.0/8,', ' '],
    ],
  ])('%s is a list as the rules say', (name, good, bad) => {
    for (const value of good) expect([value, ...refused(name, value)]).toEqual([value, false, false]);
    for (const value of bad) expect([value, ...refused(name, value)]).toEqual([value, true, true]);
  });

  it('proxy.istio.io/config is checked over the built-in defaults', () => {
    const name = 'proxy.istio.io/config';
    for (const value of ['', 'concurrency: 0', 'tracing: {zipkin: {address: "$(HOST_IP):9411"}}'])
      expect([value, ...refused(name, value)]).toEqual([value, false, false]);
    for (const value of ['statusPort: 70000', 'discoveryAddress: nowhere', 'drainDuration: 0.5s', 'configPath: ""'])
      expect([value, ...refused(name, value)]).toEqual([value, true, true]);
    expect(annotationFault({ [name]: 'statusPort: 70000' })).toContain('statusPort');
  });
});
