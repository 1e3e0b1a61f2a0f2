// A thread of the explorer: one journal reader, one question after the other. What it keeps between questions (the
// index, states, generated resources) makes the next one quick.

import { parentPort, workerData } from 'node:worker_threads';
import { openJournal } from '../../journal/open.ts';
import type { EventIndex } from './event-index.ts';
import { type Asked, Cancelled, faultOf, type Question, QuestionFault } from './question.ts';
import type { Reader } from './reader.ts';
import type { ThreadMessage, ThreadQuestion, ThreadSetup } from './thread.ts';
import type { Timeline } from './timeline.ts';
import type { Verdicts } from './verdicts.ts';

/** Between two messages about progress. */
const PROGRESS_MS = 100;
const QUIET_MS = 100;
const UNQUIET_MS_MAX = 1_000;

const setup = workerData as ThreadSetup;
const port = parentPort!;
let lastAsked = performance.now();
/** Questions that are being answered, those of the live tail apart. */
let answering = 0;
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
    void deepen(index, timeline.verdicts);
    return question => run(timeline, timelineQuestions, question);
  }
  const [{ openReader }, { searchQuestions, stateQuestions }] = await Promise.all([
    import('./reader.ts'),
    import('./state-questions.ts'),
  ]);
  const reader = openReader(journal, title, setup.lane === 'search');
  if (setup.lane === 'search') return question => run<Reader>(reader, searchQuestions, question, reader.during);
  // Beside a control plane the memory for states all along a long journal is not taken, nor the processor.
  let isPrepared = setup.mode === 'serve';
  return async question => {
    const answer = await run<Reader>(reader, stateQuestions, question, reader.during);
    if (!isPrepared) void prepare(reader);
    isPrepared = true;
    return answer;
  };
}

/** Between stretches questions are answered. */
async function prepare({ history }: Reader): Promise<void> {
  try {
    await quiet();
    while (await history.prepare()) await quiet();
  } catch {
    // A question about such a position names the fault.
  }
}

/** A reader's questions come in groups: work for later waits until there was none for QUIET_MS, but not for ever. */
async function quiet(): Promise<void> {
  const last = performance.now() + UNQUIET_MS_MAX;
  const isAsked = (): boolean => answering > 0 || performance.now() < lastAsked + QUIET_MS;
  do await new Promise(resolve => setTimeout(resolve, isAsked() ? QUIET_MS : 0));
  while (isAsked() && performance.now() < last);
}

/** Between slices questions are answered. A journal that cannot be read says so when it is asked about. */
async function deepen(index: EventIndex, verdicts: Verdicts): Promise<void> {
  try {
    // The first slice is all of a short journal: the first answers have it.
    while (await index.deepen()) await quiet();
    await quiet();
    while (await verdicts.deepen()) await quiet();
  } catch {
    // The index ends where the journal cannot be read.
  }
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
  const counts = question.path === '/live' ? 0 : 1;
  answering += counts;
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
      answering -= counts;
      if (counts > 0) lastAsked = performance.now();
    });
});
port.postMessage('ready' satisfies ThreadMessage);
