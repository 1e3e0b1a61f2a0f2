// Why a proxy has a part of its configuration, or lacks it: what `periplus explain` finds, for any kind of part.

import type { ProxyRecord } from '../../core/model/proxy.ts';
import type { State } from '../../core/state.ts';
import { explainAbsence, namesMeant } from '../../history/absence.ts';
import { explain } from '../../history/explain.ts';
import type { History } from '../../history/history.ts';
import {
  clusterSubject,
  endpointSubject,
  extensionSubject,
  listenerSubject,
  routeSubject,
  type Subject,
  virtualHostSubject,
} from '../../history/subject.ts';
import type { Why, WhyKind } from './api-questions.ts';
import { type Asked, oneOf, textOf } from './question.ts';

const kinds: readonly WhyKind[] = ['cluster', 'listener', 'route', 'virtual-host', 'endpoint', 'extension'];

export async function why(history: History, state: State, proxy: ProxyRecord, asked: Asked): Promise<Why> {
  const name = textOf(asked, 'name');
  const subject = subjectOf(asked, name);
  asked.progress(0, 1);
  const found = await explain(history, state, proxy, subject);
  if (found !== undefined) return found;
  const absence = await explainAbsence(history, state, proxy, subject);
  return { ...absence, nearest: namesMeant(absence, name, () => subject.names(history.tracker, state, proxy)) };
}

function subjectOf(asked: Asked, name: string): Subject {
  const given = (parameter: string): string | undefined => asked.query.get(parameter) || undefined;
  switch (oneOf(asked, 'kind', kinds)) {
    case 'cluster':
      return clusterSubject(name);
    case 'listener':
      return listenerSubject(name);
    case 'route':
      return routeSubject(name);
    case 'virtual-host':
      return virtualHostSubject(name, given('route'));
    case 'endpoint':
      return endpointSubject(name, given('cluster'));
    case 'extension':
      return extensionSubject(name);
  }
}
