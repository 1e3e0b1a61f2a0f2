// Asks a workload what a file of questions says, as many callers with certificates of their own, and plays the external
// authorizers meanwhile.
//
//   policy-client.mjs FILE    {questions: [{source, destination, certificate, alpn, request, authorizer}], certificates: {NAME: PEM}, key,
//                             authorizer: {address, http, grpc}, last, firstPort}
//
// Prints [{seen, from}] as JSON: seen is `forwarded`, `answered STATUS`, `closed` or `no answer`; from is the address
// and port that the client had. `last`, a question like the others, is asked when all others have been answered. Each
// question has a port of its own, from `firstPort`.

import { readFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { connect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';

const ANSWER_MS_MAX = 20_000;
const AT_ONCE = 16;
const { questions, certificates, key, authorizer, last, firstPort } = JSON.parse(readFileSync(process.argv[2], 'utf8'));

let nextPort = firstPort;

/** What authorizers answer at the moment. */
let answer = 'allows';

/** google.rpc.Status of a CheckResponse: OK, or PERMISSION_DENIED; behind the five bytes of a gRPC frame. */
const replies = { allows: Buffer.of(0, 0, 0, 0, 2, 0x0a, 0), denies: Buffer.of(0, 0, 0, 0, 4, 0x0a, 2, 0x08, 7) };

function listenAsAuthorizers() {
  const http = createServer((asked, reply) => {
    if (answer === 'fails') return asked.socket.destroy();
    reply.writeHead(answer === 'allows' ? 200 : 403).end();
  });
  // A connection that Envoy keeps for the next question must not end under it.
  http.keepAliveTimeout = 0;
  const grpc = createHttp2Server();
  grpc.on('stream', stream => {
    stream.on('error', () => undefined);
    stream.resume();
    stream.on('end', () => {
      const failed = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '14' };
      if (answer === 'fails') return stream.respond(failed, { endStream: true });
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(replies[answer]);
    });
  });
  const listening = (server, port) => new Promise(resolve => server.listen(port, authorizer.address, resolve));
  return Promise.all([listening(http, authorizer.http), listening(grpc, authorizer.grpc)]);
}

/** A connection as the caller makes it. */
function open({ source, destination, certificate, alpn }) {
  // A port that is free for one destination may be in use for another one; what redirects both would then give this one
  // a port of its own choice.
  const way = { host: destination.address, port: destination.port, localAddress: source, localPort: nextPort++ };
  if (certificate === undefined) return connect(way);
  const own = { cert: certificates[certificate], key, ALPNProtocols: alpn };
  return tlsConnect({ ...way, ...own, rejectUnauthorized: false });
}

function ask(question) {
  return new Promise(resolve => {
    const socket = open(question);
    let from = '';
    const done = seen => resolve({ seen, from });
    socket.on('connect', () => {
      from = `${socket.localAddress}:${socket.localPort}`;
    });
    socket.setTimeout(ANSWER_MS_MAX, () => {
      done('no answer');
      socket.destroy();
    });
    if (question.request === undefined) say(socket, done);
    else send(socket, question, done);
  });
}

function send(socket, { request: { method, path, authority, headers } }, done) {
  const asked = httpRequest(
    { createConnection: () => socket, method, path, headers: { ...headers, host: authority } },
    reply => {
      reply.resume();
      reply.on('end', () => {
        done(reply.headers['x-reached'] === undefined ? `answered ${reply.statusCode}` : 'forwarded');
        socket.destroy();
      });
    },
  );
  asked.on('error', () => done('closed'));
  asked.end();
}

function say(socket, done) {
  let got = '';
  socket.setEncoding('latin1');
  socket.on('data', text => {
    got += text;
  });
  socket.on('error', () => undefined);
  socket.on('close', () => done(got.startsWith('reached ') ? 'forwarded' : 'closed'));
  socket.write('neither HTTP nor TLS\n');
}

await listenAsAuthorizers();
const answers = new Map();
for (const mode of ['allows', 'denies', 'fails']) {
  answer = mode;
  const waiting = questions.filter(question => (question.authorizer ?? 'allows') === mode);
  const work = async () => {
    for (let question = waiting.shift(); question !== undefined; question = waiting.shift()) {
      answers.set(question, await ask(question));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
answer = 'allows';
console.log(JSON.stringify([...questions.map(question => answers.get(question)), await ask(last)]));
process.exit(0);
