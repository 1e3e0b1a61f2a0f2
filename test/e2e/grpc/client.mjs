// A gRPC client with grpc-js and its xDS package: makes a call of the health service for each line of its input and
// writes one line of JSON for each. `<header>=<value>` on the line is sent with the call.

import { createInterface } from 'node:readline';
import { credentials, Metadata, makeGenericClientConstructor, status } from '@grpc/grpc-js';
import { register } from '@grpc/grpc-js-xds';

const CALL_MS_MAX = 5_000;

register();
const bytes = value => value;
const Health = makeGenericClientConstructor({
  Check: {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  },
});
const client = new Health(process.argv[2], credentials.createInsecure());

function call(line) {
  const metadata = new Metadata();
  const at = line.indexOf('=');
  if (at > 0) metadata.set(line.slice(0, at), line.slice(at + 1));
  return new Promise(resolve => {
    let who = '';
    const deadline = Date.now() + CALL_MS_MAX;
    const made = client.Check(Buffer.alloc(0), metadata, { deadline }, error => {
      resolve({ who, code: error === null ? 'OK' : status[error.code], why: error?.details });
    });
    made.on('metadata', header => {
      who = String(header.get('who')[0] ?? '');
    });
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await call(line))}\n`);
}
client.close();
