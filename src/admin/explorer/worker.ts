// A thread of the explorer: one journal reader, one question after the other. What it keeps between questions (the
// index, states, generated resources) makes the next one quick.

import { parentPort, workerData } from 'node:worker_threads';
import { openJournal } from '../../journal/open.ts';
import type { EventIndex } from './event-index.ts';
import { type Asked, Cancelled, faultOf, type Question, QuestionFault } from './question.ts';
import type { Reader } from './reader.ts';
import { SpareTime } from './spare-time.ts';
import type { ThreadMessage, ThreadQuestion, ThreadSetup } from './thread.ts';
import type { Timeline } from './timeline.ts';
import type { Verdicts } from './verdicts.ts';

/** Between two messages about progress. */
const PROGRESS_MS = 100;

const setup = workerData as ThreadSetup;
const port = parentPort!;
const answering = new Int32Array(setup.answering);
const spareTime = new SpareTime(undefined, () => Atomics.load(answering, 0) > 0);
type Ask = (question: ThreadQuestion) => Promise<unknown>;

async function open(): Promise<Ask> {
  const options = { readonly: true, ...(setup.keyFile === undefined ? {} : { keyFile: setup.keyFile }) };
  const journal = await openJournal(setup.journal, options);
  const { title = setup.journal } = setup;
  // The timeline needs no generators, and is what is looked at first.
  if (setup.lane === 'timeline') {
    const [{ EventIndex }, { Verdicts }, { timelineQuestions }] = await Promise.all([
      import('./event-index.ts'),
      import('./verdicts.ts'),
      import('./timeline.ts'),
    ]);
    const index = new EventIndex(journal);
    const timeline: Timeline = { index, verdicts: new Verdicts(index), mode: setup.mode, title };
    // The first slice is all of a short journal: the first answers have it.
    await index.deepen().catch(() => undefined);
    void deepen(index, timeline.verdicts);
    return question => run(timeline, timelineQuestions, question);
  }
  const [{ openReader }, { Preparing }, { searchQuestions, stateQuestions }] = await Promise.all([
    import('./reader.ts'),
    import('./preparing.ts'),
    import('./state-questions.ts'),
  ]);
  if (setup.lane === 'search') {
    const reader = openReader(journal, title, 'many');
    return question => run<Reader>(reader, searchQuestions, question, reader.during);
  }
  // Beside a control plane the memory for states all along a long journal is not taken, nor the processor.
  const isAlong = setup.mode === 'file';
  const reader = openReader(journal, title, isAlong ? 'prepared' : 'one');
  const preparing = new Preparing({ reader, questions: stateQuestions, spareTime, isAlong });
  if (setup.isAhead === true) preparing.ahead();
  return async question => {
    const answer = await run<Reader>(reader, stateQuestions, question, reader.during);
    preparing.all();
    return answer;
  };
}

/** Between slices questions are answered. */
async function deepen(index: EventIndex, verdicts: Verdicts): Promise<void> {
  await spareTime.asked();
  await spareTime.work(() => index.deepen());
  await spareTime.work(() => verdicts.deepen());
}

async function run<R>(
  reader: R,
  questions: Readonly<Record<string, Question<R>>>,
  question: ThreadQuestion,
  during: Reader['during'] = (_, work) => work(),
): Promise<unknown> {
  const { id, path, query, body, viewer, cancel } = question;
  const ask = Object.hasOwn(questions, path) ? questions[path] : undefined;
  if (ask === undefined) throw new QuestionFault(404, `there is no /api/v1${path}`);
  const flag = new Int32Array(cancel);
  let last = performance.now();
  const progress = (done: number, of: number): void => {
    if (Atomics.load(flag, 0) === 1) throw new Cancelled();
    if (performance.now() - last < PROGRESS_MS) return;
    last = performance.now();
    port.postMessage({ id, progress: { done, of } } satisfies ThreadMessage);
  };
  progress(0, 0);
  const asked: Asked = { path, query: new URLSearchParams(query), body, viewer, progress };
  return during(asked, async () => ask(reader, asked));
}

function send(id: number, status: number, value: unknown, failure?: string): void {
  const answer = new TextEncoder().encode(JSON.stringify(value));
  const message: ThreadMessage = { id, status, answer, ...(failure === undefined ? {} : { failure }) };
  port.postMessage(message, [answer.buffer as ArrayBuffer]);
}

const opened = open();
// Each question gets the fault as its answer.
opened.catch(() => undefined);

port.on('message', (question: ThreadQuestion) => {
  // The live tail asks all the time.
  const counts = question.path !== '/live';
  if (counts) spareTime.begun();
  opened
    .then(ask => ask(question))
    .then(answer => send(question.id, 200, answer))
    .catch((error: unknown) => {
      const fault = faultOf(error);
      if (fault !== undefined) return send(question.id, fault.status, { error: fault.error });
      const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return send(question.id, 500, { error: 'internal error, see the log' }, `${question.path}: ${failure}`);
    })
    .finally(() => {
      if (counts) spareTime.ended();
    });
});
port.postMessage('ready' satisfies ThreadMessage);
