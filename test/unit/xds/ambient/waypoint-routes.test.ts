import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import { serviceEntry, virtualService } from '../../core/registry/fixtures.ts';
import { ambientWorld, namespace } from '../../core/select/ambient/fixtures.ts';
import { chainsOf, shop, waypointProxy } from './mesh.ts';

const way = waypointProxy();
const WEB = 'web.shop.svc.cluster.local';

/** One that answers with its own name. */
function answering(name: string, host: string, place = 'shop', match: JsonObject = {}): JsonObject {
  const http: Json = [{ match: [match], directResponse: { status: 200, body: { string: name } } }];
  return virtualService(name, { hosts: [host], http }, { namespace: place });
}

/** The texts that the routes of a chain answer with, in order; the default route answers with none. */
function answers(objects: readonly JsonObject[], chain: string): readonly string[] {
  const routes = JSON.stringify(chainsOf(ambientWorld([...shop(), ...objects]), way).get(chain));
  return [...routes.matchAll(/"inlineString":"(\w+)"/g)].map(([, text = '']) => text);
}

describe('the routes of a waypoint', () => {
  const chain = `inbound-vip|80|http|${WEB}`;
  const header = { headers: { a: { exact: 'b' } } };

  it('are those of every VirtualService of the host or of a wildcard that covers it, joined by age and name', () => {
    const found = answers(
      [
        answering('second', '*.shop.svc.cluster.local', 'shop', header),
        answering('first', WEB, 'shop', header),
        answering('third', WEB),
        answering('other', 'other.shop.svc.cluster.local'),
      ],
      chain,
    );
    expect(found).toEqual(['first', 'second', 'third']);
  });

  it('leave out VirtualServices of other namespaces than those of the service and of the waypoint', () => {
    expect(answers([namespace('other'), answering('far', WEB, 'other')], chain)).toEqual([]);
  });

  it('are the default where no match can apply: clients have no labels', () => {
    expect(answers([answering('labelled', WEB, 'shop', { sourceLabels: { app: 'way' } })], chain)).toEqual([]);
    expect(answers([answering('any', WEB, 'shop', { sourceLabels: {} })], chain)).toEqual(['any']);
  });

  it('of a wildcard are those of the names that it covers too', () => {
    const wild = serviceEntry(
      'wild',
      { hosts: ['*.example.com'], ports: [{ number: 80, name: 'http', protocol: 'HTTP' }], resolution: 'DYNAMIC_DNS' },
      { namespace: 'shop' },
    );
    const found = answers([wild, answering('one', 'one.example.com')], 'inbound-vip|80|http|*.example.com');
    expect(found).toEqual(['one']);
  });
});
