// Names that stand for resources of other names, as ztunnel uses them on demand.

import { describe, expect, it } from 'vitest';
import {
  openSession,
  type Session,
  type SessionEffect,
  type SessionInput,
} from '../../../../src/xds/session/session.ts';
import { step } from '../../../../src/xds/session/step.ts';
import { WORKLOAD_ADDRESS as WDS } from '../../../../src/xds/session/types.ts';

function run(session: Session, ...inputs: readonly SessionInput[]): readonly [Session, readonly SessionEffect[]] {
  let now = session;
  let last: readonly SessionEffect[] = [];
  for (const input of inputs) [now, last] = step(now, input);
  return [now, last];
}

const asks = (subscribe: readonly string[], unsubscribe: readonly string[] = [], nonce = ''): SessionInput => ({
  kind: 'Request',
  request: { protocol: 'delta', typeUrl: WDS, subscribe, unsubscribe, initial: new Map(), nonce },
});
const sent: SessionInput = { kind: 'Sent' };

/** The workload `uid` at `/10.0.0.1`. */
const evaluated = (evaluation: number, versions: Readonly<Record<string, string>>): SessionInput => ({
  kind: 'Evaluated',
  evaluation,
  view: {
    stateSeq: evaluation,
    sets: new Map([[WDS, new Map(Object.entries(versions))]]),
    aliased: new Map([[WDS, { aliases: new Map('uid' in versions ? [['/10.0.0.1', ['uid']]] : []) }]]),
  },
});
const open = openSession('delta', 's');

describe('a client on demand', () => {
  it('that takes its wildcard back at once watches nothing, and is answered', () => {
    const [session, effects] = run(open, asks(['*'], ['*']), evaluated(1, {}));
    expect(session.watches.get(WDS)).toMatchObject({ wildcard: false });
    expect(effects).toMatchObject([{ kind: 'Respond', names: [], removed: [] }]);
  });
  it('gets the resource of an alias, which is not reported as absent', () => {
    const [, effects] = run(open, asks(['/10.0.0.1', '/10.0.0.2']), evaluated(1, { uid: 'v1' }));
    expect(effects).toMatchObject([{ kind: 'Respond', names: ['uid'], removed: ['/10.0.0.2'] }]);
  });
  it('that asks for more is sent no more than that', () => {
    const first = [asks(['/10.0.0.1']), evaluated(1, { uid: 'v1' }), sent];
    const [, effects] = run(open, ...first, asks(['other']), evaluated(2, { other: 'v1', uid: 'v1' }));
    expect(effects).toMatchObject([{ kind: 'Respond', names: ['other'], removed: [] }]);
  });
  it('that asks again by an alias is sent the resource again', () => {
    const first = [asks(['/10.0.0.1']), evaluated(1, { uid: 'v1' }), sent];
    const [, effects] = run(open, ...first, asks(['/10.0.0.1']), evaluated(2, { uid: 'v1' }));
    expect(effects).toMatchObject([{ kind: 'Respond', names: ['uid'], removed: [] }]);
  });
  it('learns of the removal by the name of the resource', () => {
    const first = [asks(['/10.0.0.1']), evaluated(1, { uid: 'v1' }), sent];
    const [, effects] = run(open, ...first, { kind: 'Push' }, evaluated(2, {}));
    expect(effects).toMatchObject([{ kind: 'Respond', names: [], removed: ['uid'] }]);
  });
});

it('a client with a wildcard gets a removal for what it holds and the set does not have', () => {
  const request: SessionInput = {
    kind: 'Request',
    request: {
      protocol: 'delta',
      typeUrl: WDS,
      subscribe: [],
      unsubscribe: [],
      initial: new Map([
        ['gone', ''],
        ['uid', ''],
      ]),
      nonce: '',
    },
  };
  const [, effects] = run(open, request, evaluated(1, { uid: 'v1' }));
  expect(effects).toMatchObject([{ kind: 'Respond', names: ['uid'], removed: ['gone'] }]);
});
