// The application of a pod. It knows nothing of a mesh.
//
//   pod-app.mjs serve NAME http:PORT tcp:PORT …   answers HTTP with what it saw as JSON, TCP with NAME and what it got; prints "ready"
//   pod-app.mjs get URL [HOST]                    prints the status and the body, as JSON
//   pod-app.mjs getall FILE                      asks each of [{host, port, path, headers}] in turn; prints the statuses, 0: no answer
//   pod-app.mjs say ADDRESS PORT TEXT             prints what comes back

import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';

const ANSWER_MS_MAX = 10_000;
const [command, ...args] = process.argv.slice(2);

function serve(name, ...ports) {
  const started = ports.map(spec => {
    const [kind, port] = spec.split(':');
    const server = kind === 'http' ? httpServer(name) : tcpServer(name);
    return new Promise(resolve => server.listen(Number(port), '0.0.0.0', resolve));
  });
  return Promise.all(started).then(() => console.log('ready'));
}

function httpServer(name) {
  return createServer((asked, answer) => {
    const { remoteAddress } = asked.socket;
    answer.end(JSON.stringify({ name, path: asked.url, headers: asked.headers, from: remoteAddress }));
  });
}

function tcpServer(name) {
  return createTcpServer(socket => {
    socket.on('error', () => undefined);
    socket.once('data', data => socket.end(`${name} got ${data}`));
  });
}

function get(url, host) {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: host === undefined ? {} : { host }, timeout: ANSWER_MS_MAX }, answer => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', chunk => {
        body += chunk;
      });
      answer.on('end', () => resolve(console.log(JSON.stringify({ status: answer.statusCode, body }))));
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', reject);
    asked.end();
  });
}

async function getall(file) {
  const statuses = [];
  for (const { host, port, path, headers } of JSON.parse(await readFile(file, 'utf8'))) {
    statuses.push(
      await new Promise(resolve => {
        const asked = request({ host, port, path, headers, timeout: ANSWER_MS_MAX }, answer => {
          answer.resume();
          answer.on('end', () => resolve(answer.statusCode));
        });
        asked.on('timeout', () => asked.destroy());
        asked.on('error', () => resolve(0));
        asked.end();
      }),
    );
  }
  console.log(JSON.stringify(statuses));
}

function say(address, port, text) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port: Number(port), timeout: ANSWER_MS_MAX }, () => socket.write(text));
    let got = '';
    socket.setEncoding('utf8');
    socket.on('data', chunk => {
      got += chunk;
    });
    socket.on('timeout', () => socket.destroy(new Error('no answer')));
    socket.on('error', reject);
    socket.on('end', () => resolve(console.log(got)));
  });
}

await { serve, get, getall, say }[command](...args);
