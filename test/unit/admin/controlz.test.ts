// ControlZ over real HTTP: what `istioctl admin log` reads and sets.

import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ControlZ, serveControlZ } from '../../../src/admin/controlz.ts';
import { logScopes, makeLog, scoped } from '../../../src/runtime/log.ts';

const lines: string[] = [];
const clock = { now: () => 0, after: () => ({ cancel: () => undefined }) };
let served: ControlZ;

beforeEach(async () => {
  lines.length = 0;
  const log = makeLog({ level: 'info', json: false, clock, write: line => lines.push(line) });
  served = await serveControlZ({ host: '127.0.0.1', port: 0 }, log, logScopes, () => undefined);
  says = () => {
    log('debug', 'detail');
    log('warn', 'trouble');
    scoped(log, 'ads')('debug', 'detail of a stream');
  };
});

afterEach(() => served.close());

let says = (): void => undefined;
const at = (path: string): string => `http://127.0.0.1:${served.port}${path}`;
const put = (path: string, body: string): Promise<Response> => fetch(at(path), { method: 'PUT', body });

describe('ControlZ', () => {
  it('lists the scopes with their levels', async () => {
    const scopes = (await (await fetch(at('/scopej/'))).json()) as readonly { readonly name: string }[];
    expect(scopes.map(({ name }) => name)).toEqual(Object.keys(logScopes).sort());
    const levels = { output_level: 'info', stack_trace_level: 'none', log_callers: false };
    for (const scope of scopes) expect(scope).toMatchObject(levels);
    expect(await (await fetch(at('/scopej/ads'))).json()).toMatchObject({ name: 'ads', ...levels });
    expect(await (await fetch(at('/'))).text()).toMatch(/^ads +info +Streams of proxies/m);
  });

  it('changes the level of one scope and of no other', async () => {
    expect((await put('/scopej/ads', '{"output_level":"debug"}')).status).toBe(202);
    says();
    expect(lines.map(line => line.split('\t').slice(1).join(' '))).toEqual([
      'warn trouble\n',
      'debug ads detail of a stream\n',
    ]);
  });

  it('changes the level of the running log', async () => {
    says();
    expect(lines).toHaveLength(1);
    expect((await put('/scopej/default', '{"name":"default","output_level":"debug"}')).status).toBe(202);
    says();
    expect(lines).toHaveLength(3);
    expect((await put('/scopej/default', '{"output_level":"none"}')).status).toBe(202);
    says();
    expect(lines).toHaveLength(3);
  });

  it.each([
    ['a scope that it has not', '/scopej/wasm', '{"output_level":"debug"}'],
    ['a level that it has not', '/scopej/default', '{"output_level":"loud"}'],
    ['what is no JSON', '/scopej/default', 'debug'],
    ['a body without end', '/scopej/default', 'x'.repeat(10_000)],
  ])('refuses %s and changes nothing', async (_, path, body) => {
    expect((await put(path, body)).status).toBe(400);
    says();
    expect(lines).toHaveLength(1);
  });

  it('does not answer a page that a browser of this machine was led to', async () => {
    const status = await new Promise<number | undefined>(resolve => {
      const options = { port: served.port, path: '/scopej/', headers: { host: 'evil.example' } };
      request(options, response => resolve(response.statusCode)).end();
    });
    expect(status).toBe(403);
  });
});
