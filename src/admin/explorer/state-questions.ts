// The questions about states: one position, or many. Which thread takes which is in asker.ts.

import { proxyQuestions } from './proxy-questions.ts';
import type { Question } from './question.ts';
import type { Reader } from './reader.ts';

export const stateQuestions: Readonly<Record<string, Question<Reader>>> = { ...proxyQuestions };

export const searchQuestions: Readonly<Record<string, Question<Reader>>> = {};
