import { describe, expect, test } from 'vitest';
import { isHttp, isHttp2, isTcp, isTls, kubernetesProtocol, protocolOf } from '../../../../src/core/model/protocol.ts';

describe('the protocol of a Kubernetes port', () => {
  test.each([
    [undefined, 'http-web', 'TCP', 80, 'HTTP'],
    [undefined, 'GRPC-Web-x', 'TCP', 80, 'GRPC-Web'],
    [undefined, 'grpc-x', 'TCP', 80, 'GRPC'],
    [undefined, 'tls', 'TCP', 443, 'TLS'],
    [undefined, 'web', 'TCP', 80, 'Unsupported'],
    [undefined, '', 'TCP', 3306, 'TCP'],
    ['kubernetes.io/h2c', 'tcp', 'TCP', 80, 'HTTP2'],
    ['kubernetes.io/wss', 'http', 'TCP', 80, 'HTTPS'],
    ['strange', 'http', 'TCP', 80, 'Unsupported'],
    ['http', 'tcp', 'UDP', 53, 'UDP'],
  ] as const)('with appProtocol %s, name %s, %s %d is %s', (appProtocol, name, transport, port, expected) => {
    expect(kubernetesProtocol(appProtocol, name, transport, port)).toBe(expected);
  });
});

test('the protocol of other ports is the whole text in any case', () => {
  expect(protocolOf('HtTp2')).toBe('HTTP2');
  expect(protocolOf('http-web')).toBe('Unsupported');
  expect(protocolOf('constructor')).toBe('Unsupported');
});

test('the classes of protocols are those of Istio', () => {
  expect(['HTTP', 'GRPC-Web'].every(p => isHttp(p as never))).toBe(true);
  expect(isHttp('HTTPS')).toBe(false);
  expect(isTcp('HTTPS') && isTls('HTTPS')).toBe(true);
  expect(isTls('TCP') || isTcp('UDP') || isTcp('Unsupported')).toBe(false);
  expect(isHttp2('HTTP')).toBe(false);
});
