// The questions about the mesh as a whole: its graph, and what happens to one request.

import { meshGraph } from '../../history/mesh-graph.ts';
import { trace } from '../../history/trace.ts';
import { showOutcome } from '../../oracle/explain.ts';
import type { Branch } from '../../oracle/prediction.ts';
import type { Mesh, TraceAnswer, TraceBranch } from './api-questions.ts';
import { positionOf, shownProxies, stateAt } from './proxy-questions.ts';
import { type Asked, oneOf, type Question, QuestionFault, requireAll, textOf } from './question.ts';
import type { Reader } from './reader.ts';

export const meshQuestions: Readonly<Record<string, Question<Reader>>> = { '/mesh': mesh, '/trace': traced };

async function mesh(reader: Reader, asked: Asked): Promise<Mesh> {
  requireAll(asked);
  const state = await stateAt(reader, asked);
  const graph = meshGraph(reader.history.tracker, state, shownProxies(state, asked), {
    fold: oneOf(asked, 'fold', ['auto', 'all', 'none'], 'auto'),
    open: asked.query.getAll('open'),
    onProgress: asked.progress,
  });
  return { at: positionOf(state), ...graph };
}

async function traced(reader: Reader, asked: Asked): Promise<TraceAnswer> {
  requireAll(asked);
  const state = await stateAt(reader, asked);
  const path = asked.query.get('path') || '/';
  const { prediction, arrived, ...rest } = trace(reader.history.tracker, state, {
    from: textOf(asked, 'source'),
    to: textOf(asked, 'to'),
    method: asked.query.get('method') || 'GET',
    path: path.startsWith('/') ? path : `/${path}`,
    headers: headersOf(asked),
    tcp: asked.query.get('tcp') === 'true',
  });
  return {
    at: positionOf(state),
    ...rest,
    branches: prediction.branches.map(branchOf),
    arrived: arrived.map(({ endpoint, proxy, allowed, why }) => ({
      endpoint,
      ...(proxy === undefined ? {} : { proxy }),
      ...(allowed === undefined ? {} : { allowed }),
      why,
    })),
  };
}

function headersOf({ query }: Asked): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const line of query.getAll('header')) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new QuestionFault(400, `header=${line}: expected name:value`);
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return headers;
}

function branchOf({ probability, steps, outcome, unmodelled }: Branch): TraceBranch {
  const forwarded =
    outcome.kind === 'forwarded'
      ? { cluster: outcome.cluster, endpoint: `${outcome.endpoint.address}:${outcome.endpoint.port}` }
      : {};
  return {
    probability,
    outcome: outcome.kind,
    sentence: showOutcome(outcome),
    ...forwarded,
    ...(outcome.kind === 'answered' ? { status: outcome.status } : {}),
    steps,
    unmodelled,
  };
}
