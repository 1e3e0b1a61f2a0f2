// Asks what a file of questions says, a list of {destination, sni, request, times}, and prints the outcome of each as
// JSON: for each question a list of `forwarded ADDRESS:PORT AUTHORITY PATH`, `answered STATUS LOCATION`, `closed`. A
// request inside of TLS is made where somebody shakes hands; where the first bytes have gone through, that is the
// answer.

import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';

const ANSWER_MS_MAX = 5_000;

function ask({ destination, sni, request: { method, authority, path, headers } }) {
  const secured = () => tlsConnect({ ...at(destination), ...named(sni), rejectUnauthorized: false });
  return new Promise(resolve => {
    const asked = httpRequest(
      {
        ...(sni === undefined ? { agent: new Agent({ keepAlive: false }) } : { createConnection: secured }),
        host: destination.address,
        port: destination.port,
        method,
        path,
        headers: { ...headers, host: authority },
        timeout: ANSWER_MS_MAX,
      },
      answer => {
        answer.resume();
        const { 'x-reached': reached, 'x-path': to, 'x-authority': named, location } = answer.headers;
        const local =
          location === undefined ? `answered ${answer.statusCode}` : `answered ${answer.statusCode} ${location}`;
        answer.on('end', () => resolve(reached === undefined ? local : `forwarded ${reached} ${named} ${to}`));
      },
    );
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', error => resolve(error.message === 'no answer' ? 'no answer' : 'closed'));
    asked.end();
  });
}

const at = ({ address, port }) => ({ host: address, port });
const named = sni => (sni === '' ? {} : { servername: sni });

/** The first bytes that a TLS client sends. */
function clientHello(sni) {
  return new Promise(resolve => {
    const stub = new Duplex({
      read: () => undefined,
      write: (bytes, _encoding, done) => {
        resolve(bytes);
        done();
      },
    });
    tlsConnect({ socket: stub, ...named(sni) }).on('error', () => undefined);
  });
}

/** Of the records of TLS: the one that a handshake is made of. */
const HANDSHAKE = '\x16';

async function say({ destination, sni }) {
  const bytes = sni === undefined ? 'neither HTTP nor TLS\n' : await clientHello(sni);
  return new Promise(resolve => {
    const socket = connect({ ...at(destination), timeout: ANSWER_MS_MAX }, () => socket.write(bytes));
    let got = '';
    socket.setEncoding('latin1');
    socket.on('data', chunk => {
      got += chunk;
      if (sni === undefined || !got.startsWith(HANDSHAKE)) return;
      resolve('shakes hands');
      socket.destroy();
    });
    socket.on('timeout', () => {
      resolve('no answer');
      socket.destroy();
    });
    socket.on('error', () => resolve('closed'));
    socket.on('close', () => resolve(got.startsWith('reached ') ? `forwarded ${got.slice(8).trim()}` : 'closed'));
  });
}

/** A request, in whatever way the question has it. */
async function request(question) {
  const first = question.sni === undefined ? undefined : await say(question);
  return first === undefined || first === 'shakes hands' ? ask(question) : first;
}

const answers = [];
for (const question of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  const seen = [];
  for (let i = 0; i < question.times; i++)
    seen.push(await (question.request === undefined ? say(question) : request(question)));
  answers.push(seen);
}
console.log(JSON.stringify(answers));
