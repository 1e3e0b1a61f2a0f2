// A prediction as text for people: one paragraph a branch, one line a step.

import { showSocket } from './address.ts';
import type { Branch, Outcome, Prediction } from './prediction.ts';

/** For failing tests and for readers. */
export function explain(prediction: Prediction): string {
  return prediction.branches.map(explainBranch).join('\n');
}

function explainBranch({ probability, steps, outcome, unmodelled, beyond }: Branch): string {
  const lines = steps.flatMap(({ stage, name, why, passedOver }) => [
    `  ${stage}${name === '' ? '' : ` ${name}`}: ${why}`,
    ...passedOver.map(other => `    not ${other}`),
  ]);
  const unsure = unmodelled.length === 0 ? [] : [`  not modelled: ${unmodelled.join(', ')}`];
  const open = beyond.length === 0 ? [] : [`  decided beyond this proxy: ${beyond.join(', ')}`];
  return [`${percent(probability)} ${showOutcome(outcome)}`, ...lines, ...unsure, ...open].join('\n');
}

const percent = (probability: number): string => `${Math.round(probability * 10_000) / 100}%`;

export function showOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'forwarded': {
      const { endpoint, cluster } = outcome;
      return `to ${showSocket(endpoint)} of ${cluster}, by ${endpoint.transport.kind}`;
    }
    case 'answered':
      return `answered with ${outcome.status}${outcome.location ? ` ${outcome.location}` : ''}: ${outcome.why}`;
    default:
      return `${outcome.kind}: ${outcome.why}`;
  }
}
