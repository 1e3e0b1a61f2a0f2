// Which texts are IP addresses, and their shortest texts: as Go's netip.ParseAddr, netip.ParsePrefix and Addr.String,
// by their documentation.

import { describe, expect, it } from 'vitest';
import { ipBytes, isCidr, isIp, isIpv4, isIpv6, shortestAddress } from '../../../../src/core/base/ip.ts';

describe('an IPv4 address', () => {
  it.each(['0.0.0.0', '10.0.0.1', '255.255.255.255', '1.20.30.40'])('may be %s', text => {
    expect([isIpv4(text), isIpv6(text), isIp(text)]).toEqual([true, false, true]);
  });

  it.each([
    '',
    '.',
    '1.2.3',
    '1.2.3.',
    '.1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '1.2.3.256',
    '1.2.3.1000',
    '1.2.3.4 ',
    'a.b.c.d',
  ])('may not be %j', text => expect(isIp(text)).toBe(false));

  it('has no zone', () => expect(isIp('10.0.0.1%eth0')).toBe(false));
});

describe('an IPv6 address', () => {
  it.each([
    '::',
    '::1',
    'fe80::1',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::',
    '::ffff:10.0.0.1',
    '1:2:3:4:5:6:1.2.3.4',
    'ABCD::',
    'fe80::1%eth0',
    '::%a',
  ])('may be %s', text => expect([isIpv4(text), isIpv6(text), isIp(text)]).toEqual([false, true, true]));

  it.each([
    ':',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '1::2::3',
    '12345::',
    'g::',
    ':1::',
    '::1:',
    '1.2.3.4::',
    '::1.2.3',
    '::01.2.3.4',
    '::1.2.3.4:5',
    '[::1]',
    'fe80::1%',
    '%eth0',
  ])('may not be %j', text => expect(isIp(text)).toBe(false));
});

describe('a prefix', () => {
  it.each(['10.0.0.0/8', '10.0.0.1/32', '0.0.0.0/0', '::/0', 'fe80::/10', '::1/128'])('may be %s', text => {
    expect(isCidr(text)).toBe(true);
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/+8',
    '10.0/8',
    '::/129',
    'fe80::1%eth0/64',
  ])('may not be %j', text => expect(isCidr(text)).toBe(false));
});

describe('the shortest text', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['1::3:4:5:6:7:8', '1:0:3:4:5:6:7:8'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::1.2.3.4', '::102:304'],
    ['::110.120.130.140', '::6e78:828c'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
    ['::FFFF:a00:1', '::ffff:10.0.0.1'],
    ['FE80::1%eth-0.A', 'fe80::1%eth-0.A'],
    ['::', '::'],
  ])('of %s is %s', (text, shortest) => {
    expect(shortestAddress(text)).toBe(shortest);
  });
});

describe('the bytes of an address', () => {
  it.each([
    ['10.0.0.1', [10, 0, 0, 1]],
    ['::1.2.3.4', [...Array<number>(12).fill(0), 1, 2, 3, 4]],
    ['::ffff:1.2.3.4', [...Array<number>(10).fill(0), 255, 255, 1, 2, 3, 4]],
    ['fe80::1%eth0', [254, 128, ...Array<number>(13).fill(0), 1]],
  ])('%s are %j', (address, expected) => expect([...ipBytes(address)]).toEqual(expected));

  it('are those of each part, whatever its digits', () => {
    const parts = Array.from({ length: 256 }, (_, i) => i);
    expect(parts.map(part => [...ipBytes(`${part}.0.${255 - part}.9`)])).toEqual(
      parts.map(part => [part, 0, 255 - part, 9]),
    );
  });
});
