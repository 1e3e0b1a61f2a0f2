// DestinationRule, Gateway, ServiceEntry, WorkloadEntry, WorkloadGroup, Sidecar: what is accepted, and why the rest is
// refused.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { KindName } from '../../../../../src/core/model/kind.ts';
import { problemsOf, withSpec } from '../verdict.ts';

/** Each case: a spec, and everything that is wrong with it. */
function cases(kind: KindName, table: readonly (readonly [JsonObject, ...string[]])[]): void {
  test.each(table.map(([spec, ...problems]) => ({ spec, problems })))('reports for $spec: $problems', given => {
    expect(problemsOf(withSpec(kind, given.spec))).toEqual(given.problems);
  });
}

describe('validation of a DestinationRule', () => {
  const policy = (trafficPolicy: JsonObject): JsonObject => ({ host: 'a', trafficPolicy });
  const hash = (consistentHash: JsonObject): JsonObject => policy({ loadBalancer: { consistentHash } });
  const locality = (localityLbSetting: JsonObject): JsonObject => policy({ loadBalancer: { localityLbSetting } });
  const from = (...places: string[]): JsonObject =>
    locality({ distribute: places.map(place => ({ from: place, to: { r1: 100 } })) });
  const distribute = 'spec.trafficPolicy.loadBalancer.localityLbSetting.distribute';
  cases('DestinationRule', [
    [{ host: '*.a.com', subsets: [{ name: 'v1', labels: { version: 'v1' } }] }],
    [policy({ tls: { mode: 'MUTUAL', credentialName: 'c' }, portLevelSettings: [{ port: { number: 80 }, tls: {} }] })],
    [policy({ connectionPool: { tcp: { maxConnections: 1, connectTimeout: '1s' } }, outlierDetection: {} })],
    [hash({ maglev: { tableSize: 65537 } })],
    [locality({ distribute: [{ from: 'r1/z1/*', to: { 'r1/z1/*': 80, 'r1/z2/*': 20 } }] })],
    [{}, 'spec.host: the host name is missing'],
    [
      { host: 'a', subsets: [{ name: 'v1' }, { name: 'v1' }] },
      'spec.subsets[1].name: "v1" is the name of an earlier subset too',
    ],
    [{ host: 'a', subsets: [{}] }, 'spec.subsets[0].name: is missing'],
    [
      { host: 'a', subsets: [{ name: 'v', labels: { '@': 'x' } }] },
      'spec.subsets[0].labels: "@" is not a label key: expected [prefix/]name',
    ],
    [{ host: 'a', subsets: [{ name: 'v', labels: { 'Foo.com/bar': 'x' } }] }],
    [
      { host: 'a', subsets: [{ name: 'v', labels: { 'Foo..com/bar': 'x' } }] },
      'spec.subsets[0].labels: "Foo..com/bar" is not a label key: expected [prefix/]name',
    ],
    [policy({}), 'spec.trafficPolicy: is empty; expected at least one setting'],
    [policy({ connectionPool: {} }), 'spec.trafficPolicy.connectionPool: is empty; expected http or tcp'],
    [
      policy({ connectionPool: { tcp: { maxConnections: -1, connectTimeout: '-1s' } } }),
      'spec.trafficPolicy.connectionPool.tcp.maxConnections: -1 is negative',
      'spec.trafficPolicy.connectionPool.tcp.connectTimeout: -1s is too short: expected at least 1ms',
    ],
    [
      policy({ connectionPool: { http: { h2UpgradePolicy: 'UPGRADE', useClientProtocol: true } } }),
      'spec.trafficPolicy.connectionPool.http.useClientProtocol: cannot be true when h2UpgradePolicy is UPGRADE',
    ],
    [
      policy({ outlierDetection: { maxEjectionPercent: 101, consecutiveLocalOriginFailures: 1 } }),
      'spec.trafficPolicy.outlierDetection.maxEjectionPercent: 101 is not a percentage: expected 0 to 100',
      'spec.trafficPolicy.outlierDetection.consecutiveLocalOriginFailures: counts only when splitExternalLocalOriginErrors is true',
    ],
    [
      policy({ tls: { mode: 'MUTUAL' } }),
      'spec.trafficPolicy.tls.clientCertificate: is missing; mode MUTUAL needs it, or credentialName',
      'spec.trafficPolicy.tls.privateKey: is missing; mode MUTUAL needs it, or credentialName',
    ],
    [
      policy({ tls: { credentialName: 'configmap://roots' } }),
      'spec.trafficPolicy.tls.credentialName: "configmap://roots" does not name a ConfigMap: expected configmap://namespace/name',
    ],
    [
      policy({ tls: { mode: 'SIMPLE', credentialName: 'configmap://elsewhere/roots' } }),
      'spec.trafficPolicy.tls.credentialName: "elsewhere" is another namespace: expected a ConfigMap of "prod"',
    ],
    [
      policy({ tls: { mode: 'SIMPLE', credentialName: 'c', caCertificates: '/x' } }),
      'spec.trafficPolicy.tls.caCertificates: cannot be combined with credentialName, which has it',
    ],
    [
      policy({ tls: { mode: 'SIMPLE', insecureSkipVerify: true, subjectAltNames: ['a'] } }),
      'spec.trafficPolicy.tls.subjectAltNames: has no meaning with insecureSkipVerify',
    ],
    [
      policy({ portLevelSettings: [{}] }),
      'spec.trafficPolicy.portLevelSettings[0].port: is missing; expected a port with a number',
      'spec.trafficPolicy.portLevelSettings[0]: is empty; expected at least one setting beside the port',
    ],
    [hash({ httpCookie: {} }), 'spec.trafficPolicy.loadBalancer.consistentHash.httpCookie.name: is missing'],
    [
      hash({ maglev: { tableSize: 10 } }),
      'spec.trafficPolicy.loadBalancer.consistentHash.maglev.tableSize: 10 is not a prime number',
    ],
    [
      policy({ loadBalancer: { warmup: { minimumPercent: 101, aggression: 0.5 } } }),
      'spec.trafficPolicy.loadBalancer.warmup.duration: is missing',
      'spec.trafficPolicy.loadBalancer.warmup.minimumPercent: 101 is not a percentage: expected 0 to 100',
      'spec.trafficPolicy.loadBalancer.warmup.aggression: 0.5 is less than 1',
    ],
    [
      locality({ distribute: [{ from: 'r1', to: { r1: 60, r2: 30 } }] }),
      'spec.trafficPolicy.loadBalancer.localityLbSetting.distribute[0].to: the weights sum up to 90; expected 100',
    ],
    [
      locality({ distribute: [{ from: 'r1', to: { 'r2/z': 50, r2: 50 } }] }),
      'spec.trafficPolicy.loadBalancer.localityLbSetting.distribute[0].to: "r2/z" overlaps an earlier locality',
    ],
    // In either order: an order that is sound exists.
    [locality({ distribute: [{ from: 'r1', to: { '*': 10, 'r2/*': 40, 'r2/z/*': 10, 'r2/z/s': 40 } }] })],
    [from('r1/z/*', 'r1/*', 'us-east', '*')],
    [from('r1/z', 'r1/x*', 'r1/xy', 'r2*', 'r2')],
    [from('r1/z/a/b', 'r1/z/a/c')],
    [from('r1/*', 'r1/z/*'), `${distribute}: "r1/z/*" overlaps an earlier locality`],
    [from('*', 'us-east'), `${distribute}: "us-east" overlaps an earlier locality`],
    [from('r1/z/s', 'r1/z'), `${distribute}: "r1/z" overlaps an earlier locality`],
    [from('r1/z/s', 'r1/z/s'), `${distribute}: "r1/z/s" overlaps an earlier locality`],
    [
      locality({ failover: [{ from: 'r1', to: 'r1' }] }),
      'spec.trafficPolicy.loadBalancer.localityLbSetting.failover[0]: from and to are both "r1"; expected different regions',
    ],
    [
      policy({ tunnel: { protocol: 'GET', targetHost: '*.a' } }),
      'spec.trafficPolicy.tunnel.protocol: "GET" is not a protocol of tunnels: expected CONNECT or POST',
      'spec.trafficPolicy.tunnel.targetHost: "*.a" is not a host name: "*" is not one of letters, digits and "-" between dots',
      'spec.trafficPolicy.tunnel.targetPort: is missing; expected a port from 1 to 65535',
    ],
    [
      { host: 'a', workloadSelector: { matchLabels: { app: 'x' } }, exportTo: ['*'] },
      'spec.exportTo[0]: "*" goes beyond the own namespace; a rule with a workloadSelector cannot',
    ],
  ]);
});

describe('validation of a Gateway', () => {
  const server = (rest: JsonObject): JsonObject => ({
    servers: [{ port: { number: 443, name: 'https', protocol: 'HTTPS' }, hosts: ['a.com'], ...rest }],
  });
  const plain = { number: 80, name: 'http', protocol: 'HTTP' };
  cases('Gateway', [
    [server({ tls: { mode: 'SIMPLE', credentialName: 'c' } })],
    [server({ tls: { mode: 'PASSTHROUGH' }, hosts: ['*', './*.b.com', 'prod/c.com', '10.0.0.1'] })],
    [server({ port: plain, tls: { httpsRedirect: true } })],
    [server({ port: { number: 0, name: 'http', protocol: 'HTTP' }, bind: 'unix:///var/run/x.sock' })],
    [
      server({ port: { number: 80, name: 'http', protocol: 'HTTP', targetPort: 81 }, bind: 'unix:///var/run/x.sock' }),
      'spec.servers[0].port.number: must be 0 for a server that is bound to a socket',
      'spec.servers[0].port.targetPort: has no meaning on a Gateway',
    ],
    [{}, 'spec.servers: is empty; expected at least one server'],
    [server({}), 'spec.servers[0].tls: is missing; a server of protocol HTTPS needs it'],
    [
      server({ port: { ...plain, number: 99999 } }),
      'spec.servers[0].port.number: 99999 is not a port: expected a number from 1 to 65535',
    ],
    [
      server({ port: { ...plain, protocol: 'foo' } }),
      'spec.servers[0].port.protocol: "foo" is not a protocol: expected one of GRPC, GRPC-WEB, HTTP, HTTP2, HTTPS, HTTP_PROXY, MONGO, MYSQL, REDIS, TCP, TLS, UDP',
    ],
    [server({ port: plain, hosts: [] }), 'spec.servers[0].hosts: is empty; expected at least one host'],
    [
      server({ port: plain, hosts: ['*-a.com', './*a.com'] }),
      'spec.servers[0].hosts[0]: "*-a.com" has a wildcard within a label: expected "*" or "*." before a name',
      'spec.servers[0].hosts[1]: "*a.com" has a wildcard within a label: expected "*" or "*." before a name',
    ],
    [
      server({ port: plain, hosts: ['~/a.com', 'short'] }),
      'spec.servers[0].hosts[0]: "~" is not a namespace of a Gateway: expected a name, "*" or "."',
      'spec.servers[0].hosts[1]: "short" is a short name: expected a full one, such as name.namespace.svc.cluster.local',
    ],
    [
      server({ port: plain, tls: { mode: 'SIMPLE', credentialName: 'c' } }),
      'spec.servers[0].tls: protocol HTTP is plain text: expected httpsRedirect at most',
    ],
    [
      server({ tls: { mode: 'MUTUAL', serverCertificate: 'c' } }),
      'spec.servers[0].tls.privateKey: is missing; mode MUTUAL needs it, or credentialName',
      'spec.servers[0].tls.caCertificates: is missing; mode MUTUAL needs it, or credentialName',
    ],
    [
      server({ tls: { mode: 'SIMPLE', credentialName: 'a', credentialNames: ['b'] } }),
      'spec.servers[0].tls: has several sources of certificates (credentialName, credentialNames); expected one',
    ],
    [server({ port: plain, bind: 'foo' }), 'spec.servers[0].bind: "foo" is not an IP address'],
    [
      {
        servers: [
          { port: plain, hosts: ['*'] },
          { port: plain, hosts: ['*'] },
        ],
      },
      'spec.servers[1].port.name: "http" is the name of an earlier port too',
    ],
  ]);
  test('refuses a name with dots, because route names contain it', () => {
    const object = withSpec('Gateway', { servers: [{ port: plain, hosts: ['*'] }] });
    expect(problemsOf({ ...object, metadata: { name: 'a.b' } })).toEqual([
      'metadata.name: "a.b" is not the name of a Gateway: expected no dots, at most 63 characters',
    ]);
  });
});

describe('validation of a ServiceEntry', () => {
  const port = { number: 80, name: 'http', protocol: 'HTTP' };
  const entry = (rest: JsonObject): JsonObject => ({ hosts: ['a.com'], ports: [port], ...rest });
  cases('ServiceEntry', [
    [entry({ resolution: 'DNS', addresses: ['10.0.0.1'], exportTo: ['~'] })],
    [
      entry({
        resolution: 'STATIC',
        addresses: ['10.0.0.0/8'],
        endpoints: [{ address: '10.0.0.1', ports: { http: 8080 } }],
      }),
    ],
    [entry({ hosts: ['*.a.com'], resolution: 'DYNAMIC_DNS' })],
    [entry({ resolution: 'STATIC', endpoints: [{ address: 'unix:///x.sock' }] })],
    [{}, 'spec.hosts: is empty; expected at least one host'],
    [entry({ hosts: ['*'] }), 'spec.hosts[0]: "*" is every host; expected one, or a wildcard such as *.example.com'],
    [
      entry({ addresses: ['1.2.3.300'] }),
      'spec.addresses[0]: "1.2.3.300" is neither an IP address nor a prefix such as 10.0.0.0/8',
    ],
    [
      entry({ addresses: ['10.0.0.0/8'], resolution: 'DNS' }),
      'spec.addresses[0]: "10.0.0.0/8": prefixes are possible with resolution NONE or STATIC only',
    ],
    [
      entry({ ports: [port, port] }),
      'spec.ports[1].name: "http" is the name of an earlier port too',
      'spec.ports[1].number: 80 is an earlier port too',
    ],
    [
      entry({ ports: [{ ...port, number: 99999, targetPort: 99999 }] }),
      'spec.ports[0].number: 99999 is not a port: expected a number from 1 to 65535',
      'spec.ports[0].targetPort: 99999 is not a port: expected a number from 1 to 65535',
    ],
    [entry({ endpoints: [{ address: '10.0.0.1' }] }), 'spec.endpoints: has no meaning with resolution NONE'],
    [
      entry({ resolution: 'STATIC', endpoints: [{ address: '10.0.0.1', ports: { tcp: 1 } }] }),
      'spec.endpoints[0].ports[tcp]: the ServiceEntry has no port of the name "tcp"',
    ],
    [
      entry({ resolution: 'STATIC', workloadSelector: { labels: {} }, endpoints: [{ address: '10.0.0.1' }] }),
      'spec.endpoints: cannot be combined with workloadSelector',
    ],
    [
      entry({ resolution: 'DNS_ROUND_ROBIN', endpoints: [{ address: 'b.com' }, { address: 'c.com' }] }),
      'spec.endpoints: has 2 entries; resolution DNS_ROUND_ROBIN allows one',
    ],
    [
      entry({ hosts: ['*.a.com'], resolution: 'DNS' }),
      'spec.hosts[0]: "*.a.com" is not a host name: "*" is not one of letters, digits and "-" between dots',
    ],
    [
      entry({ resolution: 'DYNAMIC_DNS', ports: [{ ...port, protocol: 'TCP' }] }),
      'spec.hosts[0]: "a.com" is no wildcard, which resolution DYNAMIC_DNS needs',
      'spec.ports[0].protocol: "TCP" does not go with resolution DYNAMIC_DNS: expected one of HTTP, HTTP2, GRPC, TLS',
    ],
    [
      entry({ hosts: ['a.com', 'b.com'], resolution: 'DNS', ports: [{ ...port, protocol: 'TCP' }] }),
      'spec.ports[0].protocol: "TCP" does not say which of several hosts is meant; use HTTP or TLS',
    ],
  ]);
});

describe('validation of WorkloadEntry and WorkloadGroup', () => {
  cases('WorkloadEntry', [
    [{ address: '10.0.0.1', ports: { http: 80 }, labels: { app: 'x' } }],
    [{ address: 'vm.example.com' }],
    [{ network: 'n1' }],
    [{}, 'spec.address: is missing; expected an address, or a network to be found through'],
    [{ address: '@' }, 'spec.address: "@" is neither an IP address nor a host name'],
    [
      { address: 'unix://x', ports: { http: 80 } },
      'spec.address: "unix://x" is not the address of a socket: expected unix:///absolute/path or unix://@name',
      'spec.ports: has no meaning for a socket',
    ],
    [
      { address: '10.0.0.1', ports: { '@': 99999 } },
      'spec.ports[@]: "@" is not the name of a port',
      'spec.ports[@]: 99999 is not a port: expected a number from 1 to 65535',
    ],
  ]);
  cases('WorkloadGroup', [
    [{ template: {}, probe: { httpGet: { port: 8080 } } }],
    [{}, 'spec.template: is missing'],
    [{ template: {}, probe: { httpGet: { port: 8080, scheme: 'HTTPS' } } }],
    [
      { template: {}, probe: { httpGet: { port: 8080, scheme: 'https' } } },
      'spec.probe.httpGet.scheme: "https" is not a scheme of probes: expected HTTP or HTTPS',
    ],
    [{ template: {}, probe: { exec: {} } }, 'spec.probe.exec.command: is empty'],
  ]);
});

describe('validation of a Sidecar', () => {
  const port = { number: 80, name: 'http', protocol: 'HTTP' };
  const hosts = ['./*', 'istio-system/*', '~/*', '*/*.a.com'];
  const ingress = (rest: JsonObject): JsonObject => ({
    ingress: [{ port, defaultEndpoint: '127.0.0.1:8080', ...rest }],
  });
  cases('Sidecar', [
    [{ egress: [{ port, bind: '127.0.0.1', captureMode: 'NONE', hosts }, { hosts }] }],
    [{ egress: [{ port: { protocol: 'HTTP' }, bind: 'unix:///x.sock', hosts }] }],
    [ingress({ bind: '0.0.0.0' })],
    [{ outboundTrafficPolicy: { mode: 'ALLOW_ANY', egressProxy: { host: 'e.b.com', port: { number: 443 } } } }],
    [{}, 'spec: is empty: expected ingress, egress, outboundTrafficPolicy or inboundConnectionPool'],
    [{ egress: [{}] }, 'spec.egress[0].hosts: is empty; expected at least one host'],
    [
      { egress: [{ hosts: ['a.com', 'a_b/*'] }] },
      'spec.egress[0].hosts[0]: "a.com" has no namespace: expected namespace/host, where either may be *',
      'spec.egress[0].hosts[1]: "a_b" is not a namespace of a Sidecar: expected a name, "*" or "."',
    ],
    [
      { egress: [{ hosts: ['test/*a.com'] }] },
      'spec.egress[0].hosts[0]: "*a.com" has a wildcard within a label: expected "*" or "*." before a name',
    ],
    [
      { egress: [{ hosts }, { hosts }] },
      'spec.egress[0].port: is missing; only the last listener may be for all ports',
    ],
    [
      {
        egress: [
          { port, hosts },
          { port, hosts },
        ],
      },
      'spec.egress[1].port: 80 is the port of an earlier listener too',
    ],
    [
      { egress: [{ port: { protocol: 'HTTP' }, hosts }] },
      'spec.egress[0].port.number: is missing; only a listener bound to unix://… has none',
    ],
    [
      ingress({ defaultEndpoint: '10.1.1.1:9080' }),
      'spec.ingress[0].defaultEndpoint: "10.1.1.1:9080" is not the endpoint of an application: expected 127.0.0.1:PORT, 0.0.0.0:PORT, [::1]:PORT, [::]:PORT or unix:///path',
    ],
    [
      { outboundTrafficPolicy: { egressProxy: { host: 'e.b.com', port: { number: 443 } } } },
      'spec.outboundTrafficPolicy.egressProxy: is possible with mode ALLOW_ANY only',
    ],
    [
      { workloadSelector: { labels: { app: '*' } }, egress: [{ hosts }] },
      'spec.workloadSelector.labels[app]: "*": wildcards are not supported in a selector',
    ],
  ]);
});

describe('validation of a PeerAuthentication', () => {
  const selector = { matchLabels: { app: 'x' } };
  cases('PeerAuthentication', [
    [{}],
    [{ selector, mtls: { mode: 'STRICT' }, portLevelMtls: { '80': { mode: 'DISABLE' } } }],
    [
      { mtls: { mode: 'SOMETIMES' } },
      'spec.mtls.mode: expected one of UNSET, DISABLE, PERMISSIVE, STRICT, found the string "SOMETIMES"',
    ],
    [
      { portLevelMtls: { '80': {} } },
      'spec.portLevelMtls: is possible only with a selector: ports belong to workloads',
    ],
    [
      { selector, portLevelMtls: { '0': {} } },
      'spec.portLevelMtls[0]: 0 is not a port: expected a number from 1 to 65535',
    ],
  ]);
});
