// A difference as messages for the reports that other tools read (SARIF, JUnit, GitHub): what would be refused, and
// what the change would break, each with the proxies of its class and at the changed object that it is about.

import type { Message, Subject } from '../analysis/message.ts';
import { outage, refusedChange } from '../analysis/per.ts';
import type { Origin } from '../core/base/problem.ts';
import { partsOfName } from '../core/model/object.ts';
import type { DiffWarning, MeshDiff } from '../history/answers.ts';
import type { PlacedMessage } from './analysis-output.ts';

/** Proxies of a class that a message names. */
const PROXIES_SHOWN_MAX = 3;

export function diffMessages(
  { classes, warnings: general }: MeshDiff,
  refused: readonly string[],
): readonly PlacedMessage[] {
  const warnings = classes.flatMap(({ proxies, warnings: all }) => {
    const more = proxies.length - PROXIES_SHOWN_MAX;
    const shown = proxies.slice(0, PROXIES_SHOWN_MAX).join(', ');
    const whose = more > 0 ? `${shown} and ${more} more` : shown;
    return all.map(one => warned(one, `${whose}: `));
  });
  return [...refused.map(refusal), ...general.map(one => warned(one, '')), ...warnings];
}

function warned({ message, object, place }: DiffWarning, whose: string): PlacedMessage {
  const wording = outage(`${whose}${message}`);
  return { message: object === undefined ? wording : { ...wording, item: subjectOf(object) }, place };
}

/** What reports show of an object: its name. */
function subjectOf(object: string): Subject {
  return { ...partsOfName(object), cluster: '', annotations: {}, raw: {}, source: '' };
}

/** `file:line:column: text`, as refusals are written. */
function refusal(line: string): PlacedMessage {
  const [, file, row, column, text] = /^([^:\s]+):(\d+):(\d+): (.*)$/s.exec(line) ?? [];
  const place: Origin | undefined =
    file === undefined ? undefined : { file, line: Number(row), column: Number(column) };
  const message: Message = refusedChange(text ?? line);
  return { message, place };
}
