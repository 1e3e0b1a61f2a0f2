// A difference as messages for the reports that other tools read (SARIF, JUnit, GitHub): what would be refused, and
// what the change would break, each with the proxies of its class.

import type { Message } from '../analysis/message.ts';
import { outage, refusedChange } from '../analysis/per.ts';
import type { Origin } from '../core/base/problem.ts';
import type { MeshDiff } from '../history/answers.ts';
import type { PlacedMessage } from './analysis-output.ts';

/** Proxies of a class that a message names. */
const PROXIES_SHOWN_MAX = 3;

export function diffMessages({ classes }: MeshDiff, refused: readonly string[]): readonly PlacedMessage[] {
  const warnings = classes.flatMap(({ proxies, warnings: all }) => {
    const more = proxies.length - PROXIES_SHOWN_MAX;
    const shown = proxies.slice(0, PROXIES_SHOWN_MAX).join(', ');
    const whose = more > 0 ? `${shown} and ${more} more` : shown;
    return all.map(({ message }): PlacedMessage => ({ message: outage(`${whose}: ${message}`), place: undefined }));
  });
  return [...refused.map(refusal), ...warnings];
}

/** `file:line:column: text`, as refusals are written. */
function refusal(line: string): PlacedMessage {
  const [, file, row, column, text] = /^([^:\s]+):(\d+):(\d+): (.*)$/s.exec(line) ?? [];
  const place: Origin | undefined =
    file === undefined ? undefined : { file, line: Number(row), column: Number(column) };
  const message: Message = refusedChange(text ?? line);
  return { message, place };
}
