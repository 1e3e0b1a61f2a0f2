// The members that a fact of each kind has, as far as folds and questions reach into them without asking: a journal
// from elsewhere may hold a fact of a known kind that is none. Members that are optional in event.ts, and what older
// releases left out, are not asked for.

import { isObject, type Json, type JsonObject } from './base/json.ts';
import type { FactKind } from './event.ts';

type Shape = 'text' | 'texts' | 'number' | 'object';

const SHAPES: Readonly<Record<FactKind, Readonly<Record<string, Shape>>>> = {
  Add: { object: 'object' },
  Update: { object: 'object' },
  Delete: { ref: 'object' },
  Synced: {},
  Malformed: { origin: 'object', reasons: 'texts' },
  MeshConfig: {},
  MeshNetworks: {},
  Engine: { settings: 'object' },
  TimerFired: { name: 'text' },
  Rejected: { rejected: 'number', reason: 'text' },
  Gap: { reason: 'text', since: 'number', lost: 'number' },
  WorldEntry: { log: 'text', position: 'number', term: 'number', writer: 'text', facts: 'number', chain: 'text' },
  Interned: { digest: 'text' },
  ProxyConnected: { connection: 'text', node: 'object' },
  Names: { digest: 'text', names: 'texts' },
  ProxySubscribed: { connection: 'text', typeUrl: 'text', subscribe: 'texts', unsubscribe: 'texts' },
  ProxyNacked: { connection: 'text', typeUrl: 'text', message: 'text' },
  ProxyDisconnected: { connection: 'text', reason: 'text' },
  Receipt: { connections: 'texts', typeUrl: 'text', stateSeq: 'number', digest: 'text' },
  CertificateIssued: { identities: 'texts', caller: 'object', serial: 'text', notAfter: 'number' },
  CertificateRefused: { caller: 'object', code: 'text', reason: 'text' },
};

const WORDS: Readonly<Record<Shape, string>> = {
  text: 'a text',
  texts: 'a list of texts',
  number: 'a number',
  object: 'an object',
};

/** What a fact of this kind lacks; undefined: nothing, or the kind is unknown to this release. */
export function shapeProblem(kind: string, body: JsonObject): string | undefined {
  if (!Object.hasOwn(SHAPES, kind)) return undefined;
  const members = SHAPES[kind as FactKind];
  for (const name in members) {
    const shape = members[name]!;
    if (!isShaped(Object.hasOwn(body, name) ? body[name] : undefined, shape)) {
      return `${kind}.${name} is not ${WORDS[shape]}`;
    }
  }
  return undefined;
}

function isShaped(value: Json | undefined, shape: Shape): boolean {
  switch (shape) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      // Others are null in the journal.
      return Number.isFinite(value);
    case 'object':
      return isObject(value);
    case 'texts':
      return Array.isArray(value) && value.every(item => typeof item === 'string');
  }
}
