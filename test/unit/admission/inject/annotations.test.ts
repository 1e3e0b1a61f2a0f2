// Annotations of a pod: what the webhook refuses, analysis names too.

import { describe, expect, it } from 'vitest';
import { annotationFault } from '../../../../src/admission/inject/annotations.ts';
import { annotationProblem } from '../../../../src/analysis/annotation-values.ts';

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
});
