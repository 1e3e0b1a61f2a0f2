import { describe, expect, it } from 'vitest';
import { lostParents } from '../../../src/history/lost-parents.ts';
import { gateway, listener, open, route, rule, services } from '../core/translate/gateway-api/scene.ts';
import { Scene } from '../xds/generate/route/scene.ts';

function detachedBy(change: (scene: Scene) => void): readonly string[] {
  const scene = new Scene([
    ...services,
    gateway('gw', [listener('http', open)]),
    route('a', { hostnames: ['a.com'], rules: [rule('web')] }),
    route('b', { hostnames: ['b.com'], rules: [rule('web')] }),
  ]);
  const before = scene.state;
  change(scene);
  return lostParents(scene.tracker, before, scene.state).map(({ message }) => message);
}

describe('a change that detaches routes', () => {
  it('is warned of with the route, the parent and the reason', () => {
    const narrowed = gateway('gw', [listener('http', { ...open, hostname: 'a.com' })]);
    expect(detachedBy(scene => scene.put(narrowed))).toEqual([
      'HTTPRoute infra/b loses its parent Gateway infra/gw: no hostnames matched parent hostname "a.com"',
    ]);
  });

  it('is not warned of where every route stays attached', () => {
    const widened = gateway('gw', [listener('http', open), listener('more', { port: 81 })]);
    expect(detachedBy(scene => scene.put(widened))).toEqual([]);
  });
});
