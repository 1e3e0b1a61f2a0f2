// Ports of a service by their number.

import { describe, expect, it } from 'vitest';
import { type Port, portNumbered, portsNumbered, type Service } from '../../../../src/core/model/service.ts';

const serviceOf = (ports: readonly Port[]): Service => ({ ports }) as unknown as Service;

describe('the port of a service with a number', () => {
  it.each([1, 100])('is the first that is not of UDP, beside %i others', count => {
    const others = Array.from({ length: count }, (_, i): Port => ({ port: 1_000 + i, name: `p${i}`, protocol: 'TCP' }));
    const udp: Port = { port: 53, name: 'udp', protocol: 'UDP' };
    const tcp: Port = { port: 53, name: 'tcp', protocol: 'TCP' };
    const service = serviceOf([...others, udp, tcp]);
    expect(portNumbered(service, 53)).toBe(tcp);
    expect(portsNumbered(service, 53)).toEqual([udp, tcp]);
    expect(portNumbered(service, 1_000)).toBe(others[0]);
    expect(portNumbered(service, 1)).toBeUndefined();
    expect(portsNumbered(service, 1)).toEqual([]);
  });

  it('is found without a walk through thousands of others', () => {
    let reads = 0;
    const ports = Array.from(
      { length: 1_000 },
      (_, i): Port => ({
        name: `p${i}`,
        protocol: 'TCP',
        get port() {
          reads++;
          return i;
        },
      }),
    );
    const service = serviceOf(ports);
    for (let i = 0; i < ports.length; i++) expect(portNumbered(service, i)).toBe(ports[i]);
    expect(reads).toBeLessThan(5 * ports.length);
  });
});
