// What clients of the generator `api` are sent decodes to what was offered: every kind, over arbitrary objects.

import fc from 'fast-check';
import { type Either, isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, test } from 'vitest';
import { answerOf } from '../../src/adapters/mcp/messages.ts';
import { definitions } from '../../src/core/kinds/registry.ts';
import { mcpKinds, typeUrlOf } from '../../src/core/model/mcp-kinds.ts';
import type { Obj } from '../../src/core/model/object.ts';
import { decodeIstio } from '../../src/core/schema/istio.ts';
import { istioSchema } from '../../src/core/schema/istio-schema.gen.ts';
import { anyObject } from '../../src/testing/main.ts';
import { encodeResource } from '../../src/xds/engine/encode.ts';
import { envelope } from '../../src/xds/generate/api/envelope.ts';
import { typeOf } from '../../src/xds/wire/registry.ts';
import { parameters } from './seed.ts';

const RUNS = 800;
const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const seen = new Set<string>();

/** Protobuf has no difference between an absent list, map or default and an empty one. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .map(([key, member]) => [key, plain(member)] as const)
    .filter(([, member]) => !isEmpty(member));
  return Object.fromEntries(kept);
}

const zeros: ReadonlySet<unknown> = new Set(
  Object.values(istioSchema.enums).flatMap(names => Object.keys(names).filter(name => names[name] === 0)),
);

function isEmpty(value: unknown): boolean {
  if (zeros.has(value)) return true;
  if (value === undefined || value === '' || value === 0 || value === false) return true;
  return Array.isArray(value) && value.length === 0;
}

describe('the envelope of an object', () => {
  test('decodes to the object', () => {
    fc.assert(
      fc.property(anyObject, raw => {
        const kind = mcpKinds.find(one => one.kind === raw.kind);
        if (kind === undefined || kind.kind !== raw.kind || !String(raw.apiVersion).includes('istio.io')) return;
        const decoded = definitions[kind.kind].decode(raw) as Either<unknown, object>;
        if (!isRight(decoded)) return;
        seen.add(kind.kind);
        const object = {
          kind: kind.kind,
          cluster: 'c',
          namespace: 'ns',
          name: 'a',
          labels: { app: 'a' },
          annotations: {},
          creationTime: AT,
          resourceVersion: '7',
          uid: '',
          spec: decoded.right,
        } as Obj;
        const { name, message } = envelope.run({ object });
        const { body } = encodeResource(typeUrlOf(kind), name, message);
        const any = typeOf('google.protobuf.Any').decode(body) as unknown as { typeUrl: string; value: Uint8Array };
        const { objects, reasons } = answerOf(kind, {
          typeUrl: typeUrlOf(kind),
          versionInfo: '',
          nonce: '',
          resources: [any],
        });
        expect(reasons).toEqual([]);
        expect(objects[0]?.metadata).toEqual({
          name: 'a',
          namespace: 'ns',
          creationTimestamp: '2026-01-02T03:04:05Z',
          resourceVersion: '7',
          labels: { app: 'a' },
        });
        const again = decodeIstio(kind.message, objects[0]?.spec, 'spec');
        expect(isRight(again) && plain(again.right)).toEqual(plain({ ...decoded.right, status: undefined }));
      }),
      parameters(RUNS),
    );
    expect([...seen].sort()).toEqual(mcpKinds.map(({ kind }) => kind).sort());
  });
});
