// The questions about states: one position, or many. Which thread takes which is in asker.ts.

import { diffQuestions, whatIf } from './diff-questions.ts';
import { meshQuestions } from './mesh-questions.ts';
import { objectEffects, objectQuestions } from './object-questions.ts';
import { outages } from './outage-questions.ts';
import { proxyQuestions } from './proxy-questions.ts';
import { pushQuestions } from './push-questions.ts';
import type { Question } from './question.ts';
import type { Reader } from './reader.ts';
import { bisected, incidentAsked, resourceVersions } from './search-questions.ts';

export const stateQuestions: Readonly<Record<string, Question<Reader>>> = {
  ...proxyQuestions,
  ...objectQuestions,
  ...meshQuestions,
  ...diffQuestions,
  ...pushQuestions,
};

export const searchQuestions: Readonly<Record<string, Question<Reader>>> = {
  '/what-if': whatIf,
  '/bisect': bisected,
  '/incident': incidentAsked,
  '/outages': outages,
  '/proxy/history': resourceVersions,
  '/object/effect': objectEffects,
};
