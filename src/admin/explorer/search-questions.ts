// The questions that visit many positions: which event broke it, what broke and what broke first, and every version of
// a resource of a proxy. They say how far they are, and stop when they are called off.

import type { ProxyRecord } from '../../core/model/proxy.ts';
import { bisect } from '../../history/bisect.ts';
import { conditionNamed } from '../../history/bisect-conditions.ts';
import { connectedDuring } from '../../history/connected-during.ts';
import { incident } from '../../history/incident.ts';
import { resourceHistory } from '../../history/resource-history.ts';
import type { Journal } from '../../journal/journal.ts';
import { rulesOf } from '../../xds/session/types.ts';
import type { EventRow, ResourceHistory } from './api.ts';
import type { BisectAnswer, BisectConditionName, IncidentAnswer } from './api-questions.ts';
import { differenceBetween, journalFlag, proxyFlag, quoted } from './diff-questions.ts';
import { typeUrlOf } from './proxy-questions.ts';
import { type Asked, oneOf, positionIn, QuestionFault, requireAll, textOf } from './question.ts';
import type { Reader } from './reader.ts';
import { rowOf } from './rows.ts';

const conditions: readonly BisectConditionName[] = [
  'route-lost',
  'cluster-missing',
  'endpoints-lost',
  'resource-changed',
  'nack',
];

interface Range {
  readonly from: number;
  readonly to: number;
}

async function rangeOf({ history }: Reader, asked: Asked): Promise<Range> {
  const from = await positionIn(history.journal, asked, 'from', history.first());
  const to = await positionIn(history.journal, asked, 'to', history.head().seq);
  if (from >= to) throw new QuestionFault(400, `from (${from}) must come before to (${to})`);
  return { from, to };
}

export async function bisected(reader: Reader, asked: Asked): Promise<BisectAnswer> {
  requireAll(asked);
  const { history } = reader;
  const whole = await rangeOf(reader, asked);
  const name = oneOf(asked, 'condition', conditions);
  const value = asked.query.get('value') ?? '';
  const called = asked.query.get('proxy') || undefined;
  const isGiven = Boolean(asked.query.get('from'));
  const proxy = called === undefined ? undefined : await connectedDuring(history, called, whole);
  // Before a proxy connects for the first time nothing can be asked about it.
  const from = isGiven ? whole.from : Math.min(proxy?.since ?? whole.from, whole.to - 1);
  const range = { from, to: whole.to, search: !isGiven };
  const { holds, what } = await conditionNamed(history, range, { name, value }, called, proxy?.proxy);
  const steps = Math.ceil(Math.log2(range.to - range.from)) + 2;
  let evaluated = 0;
  const found = await bisect(range, holds, done => {
    evaluated = done;
    asked.progress(done, Math.max(steps, done));
  });
  const flag = value === '' ? `--${name}` : `--${name} ${quoted(value)}`;
  const ends = [...(isGiven ? ['--from', range.from] : []), '--to', range.to];
  const command = ['periplus bisect', ...proxyFlag(called ?? null), flag, ...ends, journalFlag(reader.title)];
  if (found === undefined) return { what, evaluated, command: command.join(' ') };
  const [event] = await rowsOf(history.journal, [found.seq]);
  const difference = await differenceBetween(reader, asked, found.seq - 1, found.seq);
  return {
    what,
    found: { seq: found.seq, held: found.held, event: event!, difference },
    evaluated: found.evaluated,
    command: command.join(' '),
  };
}

export async function incidentAsked(reader: Reader, asked: Asked): Promise<IncidentAnswer> {
  requireAll(asked);
  const range = await rangeOf(reader, asked);
  const called = asked.query.get('proxy') || undefined;
  const proxy = called === undefined ? undefined : await connectedDuring(reader.history, called, range);
  const only = proxy === undefined ? {} : { only: proxy.proxy.facets.id };
  return incident(reader.history, range, { onProgress: asked.progress, ...only });
}

export async function resourceVersions(reader: Reader, asked: Asked): Promise<ResourceHistory> {
  requireAll(asked);
  const { history } = reader;
  const range = await rangeOf(reader, asked);
  const { proxy } = await connectedDuring(history, textOf(asked, 'proxy'), range);
  const name = textOf(asked, 'name');
  const typeUrl = typeUrlOf(asked);
  const { versions, since } = await resourceHistory(history, proxy satisfies ProxyRecord, typeUrl, name, {
    ...range,
    onProgress: asked.progress,
  });
  const shown: ResourceHistory['versions'][number][] = [];
  for (const { causes, ...version } of versions) {
    shown.push({ ...version, causes: await rowsOf(history.journal, causes) });
  }
  return { proxy: proxy.facets.id, type: rulesOf(typeUrl).short, name, versions: shown, since };
}

async function rowsOf(journal: Journal, seqs: readonly number[]): Promise<readonly EventRow[]> {
  const rows: EventRow[] = [];
  for (const seq of seqs) {
    for await (const page of journal.records({ from: seq, to: seq, secrets: 'redacted' }))
      rows.push(...page.map(rowOf));
  }
  return rows;
}
