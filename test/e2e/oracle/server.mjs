// Serves every address of its network namespace: tells HTTP requests, of HTTP/1 and HTTP/2, and other connections where
// they have arrived.
//
//   server.mjs PORT …     prints "ready"
//
// What a connection speaks shows in its first bytes; it is then handed, with these, to a server of that protocol on
// loopback.

import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { connect, createServer as createTcpServer } from 'node:net';

/** A handed connection on loopback → where it had arrived. */
const reached = new Map();
/** By both ports: one may be in use at the same time towards either server. */
const handedOver = (from, to) => `${from} ${to}`;

function tell(asked, answer) {
  answer.setHeader('x-reached', reached.get(handedOver(asked.socket.remotePort, asked.socket.localPort)) ?? 'nowhere');
  answer.setHeader('x-path', asked.url);
  answer.setHeader('x-authority', asked.headers[':authority'] ?? asked.headers.host ?? '');
  answer.end();
}

function serve(socket, behind) {
  const arrived = `${socket.localAddress}:${socket.localPort}`;
  socket.on('error', () => undefined);
  socket.once('data', bytes => {
    const version = /^[A-Za-z]+ \S+ HTTP\/([12])/.exec(bytes.toString('latin1'))?.[1];
    if (version === undefined) return socket.end(`reached ${arrived}\n`);
    socket.pause();
    const { port } = behind[version].address();
    const handed = connect({ host: '127.0.0.1', port }, () => {
      reached.set(handedOver(handed.localPort, port), arrived);
      handed.write(bytes);
      socket.pipe(handed).pipe(socket);
    });
    handed.on('error', () => socket.destroy());
  });
}

const listening = (server, port, host) => new Promise(resolve => server.listen(port, host, () => resolve(server)));
const behind = {
  1: await listening(createServer({ keepAliveTimeout: 0 }, tell), 0, '127.0.0.1'),
  2: await listening(createHttp2Server(tell), 0, '127.0.0.1'),
};
await Promise.all(
  process.argv.slice(2).map(port =>
    listening(
      createTcpServer(socket => serve(socket, behind)),
      Number(port),
      '0.0.0.0',
    ),
  ),
);
console.log('ready');
