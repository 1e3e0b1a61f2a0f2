// Signing requests: how many a second, and the CPU of one, with tokens checked by published keys, nothing else going
// on; then how long a change of a cluster takes to reach a connected proxy, without requests and with them, and how long
// the event loop was held meanwhile. The real service, authenticator and authority (RSA 2048, as a self-signed root is),
// and a real stream; only TLS and the journal are left out, and proxy and agents run in the same process.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Peer } from '../src/core/model/caller.ts';
import { authenticate } from '../src/identity/authenticate/authenticator.ts';
import { tokenKeys } from '../src/identity/authenticate/token-keys.ts';
import { Authority } from '../src/identity/authority.ts';
import { signingBundle } from '../src/identity/bundle.ts';
import { CsrService } from '../src/identity/csr-service.ts';
import { generateKeys, privateKeyPem } from '../src/identity/x509/keys.ts';
import { pemOf } from '../src/identity/x509/pem.ts';
import { makeRoot } from '../src/identity/x509/profile.ts';
import { Engine } from '../src/xds/engine/engine.ts';
import { PlainPort } from '../src/xds/grpc/plain-port.ts';
import { XdsServer } from '../src/xds/grpc/server.ts';
import { defaultScheduleSettings } from '../src/xds/push/settings.ts';
import { defaultXdsLimits } from '../src/xds/serve/limits.ts';
import { CDS } from '../src/xds/session/types.ts';
import { ISSUER, tokenMaker } from '../test/identity/tokens.ts';
import { AdsClient, node } from '../test/protocol/ads-client.ts';
import { MemoryHost, testSources } from '../test/protocol/memory-host.ts';
import { signingRequest } from '../test/unit/identity/signing-request.ts';
import type { Figures } from './measure.ts';

const REQUESTS = 2_000;
/** Agents that wait for an answer at the same time. */
const AT_ONCE = 200;
const ACCOUNTS = 100;
const DAY_MS = 86_400_000;
const QUIET_MS = 1_000;

export async function signingFigures(): Promise<Figures> {
  const service = await serviceOf();
  const tokens = tokenMaker();
  const { create } = service(tokens.jwks);
  const { pem: csr } = await signingRequest();
  const peers = Array.from({ length: ACCOUNTS }, (_, i) => peerOf(tokens.token(`shop/sa-${i}`)));
  const ask = async (i: number): Promise<void> => {
    const request = { csr, validitySeconds: 0, impersonated: '', signer: '' };
    const answer = await create(peers[i % ACCOUNTS]!, request);
    if (!('certChain' in answer)) throw new Error(answer.message);
  };
  const askAll = async (): Promise<void> => {
    let next = 0;
    const agent = async (): Promise<void> => {
      while (next < REQUESTS) await ask(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, agent));
  };
  await askAll();
  const [startedAt, used] = [performance.now(), process.cpuUsage()];
  await askAll();
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(used);
  const proxy = await connectedProxy();
  const quiet = await proxy.delaysUntil(new Promise(resolve => setTimeout(resolve, QUIET_MS)));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const busy = await proxy.delaysUntil(askAll());
  delay.disable();
  await proxy.close();
  const rounded = (value: number): number => Number(value.toPrecision(3));
  return {
    'signing: requests a second': { value: rounded(REQUESTS / seconds), unit: 'events/s', better: 'more' },
    'signing: CPU of a request': { value: rounded((user + system) / 1_000 / REQUESTS), unit: 'ms', better: 'less' },
    'signing: event loop held, 99 %': { value: rounded(delay.percentile(99) / 1e6), unit: 'ms', better: 'less' },
    'signing: a change reaches a proxy, before, 99 %': { value: rounded(late(quiet)), unit: 'ms', better: 'less' },
    'signing: a change reaches a proxy, meanwhile, 99 %': { value: rounded(late(busy)), unit: 'ms', better: 'less' },
  };
}

function late(delays: readonly number[]): number {
  return [...delays].sort((a, b) => a - b)[Math.floor(delays.length * 0.99)] ?? Number.NaN;
}

/** Of a server on loopback, without debounce. */
async function connectedProxy() {
  const host = new MemoryHost();
  const server = new XdsServer({
    host,
    engine: new Engine(testSources),
    limits: defaultXdsLimits,
    schedule: { ...defaultScheduleSettings, debounceAfterMs: 1 },
  });
  host.onPush = request => server.push(request);
  const port = await new PlainPort(server, { clock: host.clock, log: () => undefined }).listen('127.0.0.1', 0);
  await host.set('cds', { a: '0' });
  const client = new AdsClient(port, 'delta');
  const acknowledge = async (): Promise<void> => {
    client.send({ typeUrl: CDS, responseNonce: (await client.next()).nonce });
  };
  client.send({ node, typeUrl: CDS });
  await acknowledge();
  let round = 0;
  return {
    /** Changes one cluster again and again, and says what each took. */
    delaysUntil: async (end: Promise<unknown>): Promise<readonly number[]> => {
      let isOver = false;
      void end.finally(() => {
        isOver = true;
      });
      const delays: number[] = [];
      while (!isOver) {
        const changedAt = performance.now();
        await host.set('cds', { a: String(++round) });
        await acknowledge();
        delays.push(performance.now() - changedAt);
      }
      await end;
      return delays;
    },
    close: async (): Promise<void> => {
      client.close();
      await server.stop(500);
    },
  };
}

async function serviceOf() {
  const { privateKey } = await generateKeys({ rsa: 2_048 });
  const now = Date.now();
  const { der } = await makeRoot({ key: privateKey, organization: 'cluster.local', now, ttlMs: 3_650 * DAY_MS });
  const [certificate, key] = [pemOf('CERTIFICATE', der), privateKeyPem(privateKey)];
  const bundle = signingBundle({ mode: 'self-signed', certificate, key, chain: '', roots: certificate }, now);
  const authority = new Authority(bundle, { now: Date.now, defaultTtlMs: DAY_MS, maxTtlMs: 90 * DAY_MS });
  return (jwks: string): { readonly create: CsrService['create'] } => {
    const keys = { issuer: ISSUER, keys: JSON.parse(jwks) };
    const authenticator = tokenKeys({
      clusters: { own: 'Kubernetes', aliases: {} },
      keysOf: () => keys,
      audiences: ['istio-ca'],
      accounts: { podOf: () => undefined, known: () => false, listed: () => true },
      trustDomain: () => 'cluster.local',
      now: Date.now,
    });
    const service = new CsrService({
      authenticate: peer => authenticate([authenticator], peer),
      whyNotImpersonated: () => undefined,
      sign: ({ csr, validitySeconds }, identities) => authority.sign(csr, identities, validitySeconds),
      audit: async () => undefined,
      log: () => undefined,
      ready: () => true,
      count: () => undefined,
    });
    return { create: (peer, request) => service.create(peer, request) };
  };
}

function peerOf(token: string): Peer {
  const header = (name: string): readonly string[] => (name === 'authorization' ? [`Bearer ${token}`] : []);
  return { address: '127.0.0.1', secure: true, header };
}
