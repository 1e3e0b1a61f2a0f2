// A client that sends its first request with the preface of the connection, as Envoy does.

import { connect } from 'node:http2';
import { test } from 'vitest';
import { CDS } from '../../src/xds/session/types.ts';
import { typeOf } from '../../src/xds/wire/registry.ts';
import { closing, rig, until } from './server-rig.ts';

test.each([
  ['smaller', 10],
  ['larger', 200],
])('a first request that is %s than what Node reads ahead is answered', async (_, kilobytes) => {
  const { host, port } = await rig();
  await host.set('cds', { a: '1' });
  const session = connect(`http://127.0.0.1:${port}`);
  closing.push(() => session.destroy());
  const call = session.request({
    ':method': 'POST',
    ':path': '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  let received = 0;
  call.on('data', (bytes: Buffer) => {
    received += bytes.length;
  });
  call.on('error', () => undefined);
  session.on('error', () => undefined);
  const node = { id: 'sidecar~10.0.0.1~web.ns-1~ns-1.svc.cluster.local', cluster: 'x'.repeat(kilobytes * 1024) };
  const request = typeOf('envoy.service.discovery.v3.DiscoveryRequest').encode({ node, typeUrl: CDS }).finish();
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(request.length, 1);
  call.write(Buffer.concat([prefix, request]));
  await until(() => received > 0);
});
