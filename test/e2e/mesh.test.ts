// The main job with real Envoys: traffic flows, shifts, survives mistakes and the death of the control plane, and the
// journal tells it all again.

import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, Bookinfo, envoyOrSkip } from './bookinfo.ts';

const binary = await envoyOrSkip('test/e2e/mesh.test.ts');

const failed = (answers: readonly Answer[]): readonly string[] =>
  answers.filter(answer => answer.status !== 200).map(answer => `${answer.status} ${answer.body}`);
const versions = (answers: readonly Answer[]): readonly string[] =>
  [...new Set(answers.map(a => a.version ?? '?'))].sort();

async function many(mesh: Bookinfo, count: number): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < count; i++) answers.push(await mesh.ask());
  return answers;
}

/** Bytes of responses since the control plane started, by its metrics. */
async function bytesSent(mesh: Bookinfo): Promise<number> {
  const metrics = await mesh.monitoring('/metrics');
  const sums = [...metrics.matchAll(/^pilot_xds_config_size_bytes_sum\{.*\} ([0-9.e+]+)$/gm)];
  return sums.reduce((sum, match) => sum + Number(match[1]), 0);
}

describe.runIf(binary !== undefined)('a mesh served to real Envoys', () => {
  let mesh: Bookinfo;
  let second: Server | undefined;

  beforeAll(async () => {
    mesh = await Bookinfo.start(binary!, { ingressgateway: 'delta', productpage: 'delta' });
  });
  afterAll(async () => {
    await mesh?.stop();
    second?.closeAllConnections();
    second?.close();
  });

  it('answers requests through gateway, productpage, sidecar and reviews', async () => {
    await mesh.until('a page', async () => (await mesh.ask()).status === 200);
    const answers = await many(mesh, 20);
    expect(failed(answers)).toEqual([]);
    expect(versions(answers)).toEqual(['v1']);
    expect((await mesh.ask('/')).body).toContain('served by reviews-v1');
  });

  it('gets an ACK from every proxy', async () => {
    await mesh.until('SYNCED', async () => {
      const { stdout } = await mesh.run('proxy-status', '--address', `127.0.0.1:${mesh.port(25014)}`);
      return /ingressgateway/.test(stdout) && /productpage/.test(stdout) && !/ERROR|STALE/.test(stdout);
    });
    const status = JSON.parse(await mesh.monitoring('/debug/syncz')) as readonly {
      types: Record<string, { status: string }>;
    }[];
    expect(status).toHaveLength(2);
    for (const { types } of status)
      for (const type of ['CDS', 'LDS', 'RDS']) expect(types[type]?.status).toBe('SYNCED');
  });

  it('shifts all traffic by changed weights without a failed request', async () => {
    const during = await mesh.askWhile(async () => {
      await mesh.edit('reviews.yaml', text =>
        text
          .replace('weight: 100', 'weight: 0')
          .replace(/weight: 0$/m, 'weight: 0')
          .replace(/(subset: v3.*\n\s+weight:) 0/, '$1 100'),
      );
      await mesh.until('v3', async () => versions(await many(mesh, 10)).join() === 'v3');
    });
    expect(failed(during)).toEqual([]);
    expect(versions(await many(mesh, 30))).toEqual(['v3']);
  });

  it('sends traffic to a new endpoint, and none to a removed one', async () => {
    second = createServer((_, response) => response.end(JSON.stringify({ title: 'the second details' })));
    await new Promise<void>(resolve => second?.listen(mesh.port(29082), '127.0.0.4', resolve));
    const pod = `---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: details-more, namespace: default, labels: {kubernetes.io/service-name: details}}
addressType: IPv4
ports: [{name: http, port: ${mesh.port(29082)}, protocol: TCP}]
endpoints: [{addresses: [127.0.0.4], conditions: {ready: true}}]
`;
    const uses = async (): Promise<boolean> =>
      (await many(mesh, 12)).some(answer => answer.body.includes('the second details'));
    const during = await mesh.askWhile(async () => {
      await mesh.edit('platform.yaml', text => `${text}${pod}`);
      await mesh.until('the new endpoint is used', uses);
    });
    expect(failed(during)).toEqual([]);
    await mesh.edit('platform.yaml', text => text.replace(pod, ''));
    await mesh.until('the removed endpoint is not used', async () => !(await uses()));
    expect((await many(mesh, 30)).filter(answer => answer.body.includes('the second details'))).toEqual([]);
  });

  it('refuses an invalid VirtualService with its place, and keeps serving the route before it', async () => {
    await mesh.edit('reviews.yaml', text => text.replace(/weight: 100/, 'weight: -100'));
    await mesh.until('the refusal is logged', async () =>
      /reviews\.yaml:[0-9]+:[0-9]+: VirtualService\/default\/reviews is refused: spec\.http\[0\]/.test(mesh.log),
    );
    const answers = await many(mesh, 20);
    expect(failed(answers)).toEqual([]);
    expect(versions(answers)).toEqual(['v3']);
    await mesh.edit('reviews.yaml', text => text.replace(/weight: -100/, 'weight: 100'));
    await mesh.until('it is accepted again', async () => /reviews is accepted again/.test(mesh.log));
  });

  it('drops no request over kill -9 and restart, and sends reconnecting Envoys almost nothing', async () => {
    const first = await bytesSent(mesh);
    const during = await mesh.askWhile(async () => {
      await mesh.endPlane('SIGKILL');
      await new Promise(resolve => setTimeout(resolve, 500));
      await mesh.startPlane();
      await mesh.until(
        'both are back',
        async () => (JSON.parse(await mesh.monitoring('/debug/syncz')) as unknown[]).length === 2,
      );
      await new Promise(resolve => setTimeout(resolve, 1_000));
    });
    expect(failed(during)).toEqual([]);
    expect(during.length).toBeGreaterThan(20);
    expect(first).toBeGreaterThan(10_000);
    expect(await bytesSent(mesh)).toBeLessThan(first / 10);
  });

  it('sends changes after the restart as before', async () => {
    await mesh.weights(100, 0);
    await mesh.until('v1', async () => versions(await many(mesh, 10)).join() === 'v1');
  });

  it('stops gracefully on SIGTERM without a failed request, and the journal reproduces every response byte for byte', async () => {
    let code: number | null = null;
    const during = await mesh.askWhile(async () => {
      code = await mesh.endPlane('SIGTERM');
      // Envoys serve on with what they have.
      expect(failed(await many(mesh, 20))).toEqual([]);
    });
    expect(code).toBe(0);
    expect(failed(during)).toEqual([]);
    const verified = await mesh.run('journal', 'verify', '--journal', mesh.journal);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok: /) });
    const replayed = await mesh.run('replay', '--verify', '--journal', mesh.journal, '-o', 'json');
    const report = JSON.parse(replayed.stdout) as { receipts: number; different: number; reproduced: number };
    expect(report.different).toBe(0);
    expect(report.receipts).toBeGreaterThan(10);
    expect(replayed.code).toBe(0);
  });
});
