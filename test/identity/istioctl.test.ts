// What istioctl 1.30.3 asks a control plane for, request by request: its port-forwards to the monitoring port and to ControlZ, and the program
// that `istioctl bug-report` runs in the container. Debug types over xDS are in debug-xds.test.ts and debug-pages.test.ts.
// Source: Istio istioctl/pkg/multixds, istioctl/pkg/multicluster, pkg/kube/client.go, tools/bug-report/pkg/content.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { requestCommand } from '../../src/cli/request.ts';
import { type TestPlane, testPlane } from './plane.ts';

const START_MS_MAX = 60_000;
/** In the order in which bug-report asks. */
const REPORTED =
  'adsz ambientz authorizationz cachez clusterz configz endpointShardz endpointz inject instancesz mcsz mesh networkz push_status registryz resourcesz syncz telemetryz';
/** A page that is not there answers 404, which bug-report takes. */
const ABSENT = ['krtz'];

let plane: TestPlane;

beforeAll(async () => {
  plane = await testPlane();
}, START_MS_MAX);

afterAll(() => plane.stop());

const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${plane.plane.ports.monitoring}${path}`);

async function requested(path: string): Promise<string> {
  const said: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation(chunk => {
    said.push(String(chunk));
    return true;
  });
  try {
    const port = String(plane.plane.ports.monitoring);
    await requestCommand().parseAsync(['GET', path, '--monitoringPort', port], { from: 'user' });
  } finally {
    spy.mockRestore();
  }
  return said.join('');
}

describe('requests of istioctl', { timeout: 60_000 }, () => {
  it('version: asks for //version and reads at least three parts without a line end', async () => {
    const text = await (await get('//version')).text();
    expect(text).toMatch(/^[^\n]+-[^\n-]+-[^\n-]+$/);
    expect(await (await get('/debug/syncz')).json()).toEqual([]);
  });

  it('remote-clusters: lists the own cluster first', async () => {
    const [own] = (await (await get('/debug/clusterz')).json()) as readonly object[];
    expect(own).toMatchObject({ id: 'Kubernetes', secretName: '', syncStatus: expect.any(String) });
  });

  it.each(REPORTED.split(' '))('bug-report: gets the page %s', async page => {
    const body = await requested(`debug/${page}`);
    if (page === 'inject') expect(body).toContain('nothing is injected here');
    else expect(JSON.parse(body)).toBeTypeOf('object');
  });

  it('bug-report: gets the metrics, and goes on where a page is missing', async () => {
    expect(await requested('metrics')).toContain('pilot_info');
    for (const page of ABSENT) expect(await requested(`debug/${page}`)).toContain('/debug/holdingsz');
    expect(await requested('debug/pprof/profile')).toContain('--cpu-prof');
    expect(await requested('debug/list')).not.toMatch(/krtz|pprof/);
  });
});
