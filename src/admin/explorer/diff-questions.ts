// The questions about differences: between two positions, and of a change that is not applied.

import { isObject, type Json } from '../../core/base/json.ts';
import type { State } from '../../core/state.ts';
import { type DiffSide, diffMeshes } from '../../history/diff.ts';
import { diffMarkdown } from '../../history/diff-markdown.ts';
import { objectNamed } from '../../history/object-name.ts';
import { propose } from '../../history/proposal.ts';
import { objectFacts } from '../../offline/generate.ts';
import type { Difference, WhatIfRequest } from './api-questions.ts';
import { positionOf, proxyShown, shownProxies, stateAt } from './proxy-questions.ts';
import { type Asked, positionIn, type Question, QuestionFault, requireAll } from './question.ts';
import type { Reader } from './reader.ts';

/** Objects that a what-if may delete. */
export const DELETIONS_MAX = 200;
const PROPOSED_FILE = 'change.yaml';

export const diffQuestions: Readonly<Record<string, Question<Reader>>> = { '/diff': diff };

export async function diff(reader: Reader, asked: Asked): Promise<Difference> {
  requireAll(asked);
  const { history } = reader;
  const { journal } = history;
  const from = await positionIn(journal, asked, 'from', history.first());
  const to = await positionIn(journal, asked, 'to', history.head().seq);
  return differenceBetween(reader, asked, from, to);
}

/** For the proxy that `proxy` names, or all. */
export async function differenceBetween(reader: Reader, asked: Asked, from: number, to: number): Promise<Difference> {
  const { history } = reader;
  const [before, after] = [await history.at(from), await history.at(to)];
  asked.progress(0, 1);
  const found = diffMeshes(history.tracker, sideOf(before, asked), sideOf(after, asked));
  const title = `event ${from} → event ${to}`;
  const proxy = asked.query.get('proxy');
  return {
    title,
    from: positionOf(before),
    to: positionOf(after),
    ...found,
    refused: [],
    markdown: diffMarkdown({ title, difference: found, refused: [] }),
    command: ['periplus diff', from, to, ...proxyFlag(proxy), journalFlag(reader.title)].join(' '),
  };
}

function sideOf(state: State, asked: Asked): DiffSide {
  const name = asked.query.get('proxy');
  if (!name) return { state, proxies: shownProxies(state, asked) };
  // Of a proxy that comes or goes in between, one side has none.
  const all = shownProxies(state, asked);
  const found = all.filter(({ connection, facets }) => connection === name || facets.id === name);
  return { state, proxies: found.length > 0 ? found : all.length === 0 ? [] : [proxyShown(state, name, asked)] };
}

export async function whatIf(reader: Reader, asked: Asked): Promise<Difference> {
  requireAll(asked);
  const { history } = reader;
  const { yaml, delete: deletions } = requestOf(asked.body);
  const state = await stateAt(reader, asked);
  const facts = yaml.trim() === '' ? [] : objectFacts('file/proposed', PROPOSED_FILE, Buffer.from(yaml));
  const proposal = propose(state, facts, deletions.map(objectNamed));
  asked.progress(0, 1);
  // The proxies of that position, as they are: what is proposed changes no proxy.
  const before = sideOf(state, asked);
  const difference = diffMeshes(history.tracker, before, { state: proposal.state, proxies: before.proxies });
  const files = yaml.trim() === '' ? [] : ['-f', PROPOSED_FILE];
  const deleted = deletions.length === 0 ? [] : ['--delete', ...deletions.map(quoted)];
  const changes = [...(files.length === 0 ? [] : [PROPOSED_FILE]), ...deletions.map(object => `without ${object}`)];
  const title = `event ${state.seq} → ${changes.join(', ')}`;
  const flags = [...files, ...deleted, '--at', state.seq, ...proxyFlag(asked.query.get('proxy'))];
  return {
    title,
    from: positionOf(state),
    to: positionOf(state),
    ...difference,
    refused: proposal.refused,
    markdown: diffMarkdown({ title, difference, refused: proposal.refused }),
    command: ['periplus diff', ...flags, journalFlag(reader.title)].join(' '),
  };
}

function requestOf(body: string): WhatIfRequest {
  let given: Json;
  try {
    given = JSON.parse(body) as Json;
  } catch {
    throw new QuestionFault(400, 'the body is not JSON; expected {"yaml": "…", "delete": ["Kind/namespace/name"]}');
  }
  const { yaml = '', delete: deletions = [] } = isObject(given) ? given : {};
  const named = Array.isArray(deletions) ? deletions.filter(one => typeof one === 'string') : [];
  if (!isObject(given) || typeof yaml !== 'string' || !Array.isArray(deletions) || named.length !== deletions.length) {
    throw new QuestionFault(400, 'expected {"yaml": "…", "delete": ["Kind/namespace/name"]}');
  }
  if (named.length > DELETIONS_MAX) throw new QuestionFault(400, `at most ${DELETIONS_MAX} objects can be deleted`);
  if (yaml.trim() === '' && named.length === 0) throw new QuestionFault(400, 'nothing is changed: give yaml or delete');
  return { yaml, delete: named };
}

export function proxyFlag(proxy: string | null): readonly string[] {
  return proxy ? ['--proxy', quoted(proxy)] : [];
}

export function journalFlag(path: string): string {
  return `--journal ${quoted(path)}`;
}

/** For a shell: what is more than a plain word stands in quotes. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
