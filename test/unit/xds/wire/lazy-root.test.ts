// Types that are loaded one by one equal those of a root that has all of them.
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs/light.js';
import { describe, expect, it } from 'vitest';
import { LazyRoot } from '../../../../src/xds/wire/lazy-root.ts';

const text = readFileSync(new URL('../../../../src/xds/proto/bundle.gen.json', import.meta.url), 'utf8');
const bundle = JSON.parse(text) as protobuf.INamespace;

function messagesOf(space: protobuf.NamespaceBase): readonly protobuf.Type[] {
  return space.nestedArray.flatMap(one => {
    if (!(one instanceof protobuf.Namespace)) return [];
    return one instanceof protobuf.Type ? [one, ...messagesOf(one)] : messagesOf(one);
  });
}

/** Its fields, what they refer to, and how they are encoded. */
function shape(type: protobuf.Type): unknown {
  return type.fieldsArray.map(field => {
    const { id, name, jsonName, resolvedType, hasPresence, packed, typeDefault } = field.resolve();
    return [id, name, jsonName, field.type, resolvedType?.fullName, Boolean(hasPresence), packed, String(typeDefault)];
  });
}

describe('LazyRoot', () => {
  it('gives each message as a root that has all of them', () => {
    const all = messagesOf(protobuf.Root.fromJSON(bundle).resolveAll());
    expect(all.length).toBeGreaterThan(1_000);
    const lazy = new LazyRoot(bundle);
    for (const type of all) {
      const found = lazy.find(type.fullName.slice(1));
      expect(found === undefined ? undefined : shape(found), type.fullName).toEqual(shape(type));
    }
  });

  it('keeps the type that it gave, whatever is loaded later', () => {
    const lazy = new LazyRoot(bundle);
    const found = lazy.find('envoy.config.core.v3.Address');
    expect(lazy.find('envoy.config.cluster.v3.Cluster')?.fields.name).toBeDefined();
    expect(lazy.find('envoy.config.listener.v3.Listener')).toBeDefined();
    expect(lazy.find('envoy.config.core.v3.Address')).toBe(found);
    expect(lazy.find('envoy.config.cluster.v3.Cluster')?.root.lookupType('envoy.config.core.v3.Address')).toBe(found);
  });

  it('knows no other names', () => {
    const lazy = new LazyRoot(bundle);
    const names = [
      '',
      'envoy',
      'Cluster',
      'v3.Cluster',
      'envoy.config.cluster.v3.Clusters',
      'envoy.config.core.v3.ApiVersion',
    ];
    for (const name of names) expect(lazy.find(name), name).toBeUndefined();
  });
});
