// A difference of a mesh as markdown, for pull requests: `periplus diff -o markdown` and the explorer's export.

import type { Json } from '../core/base/json.ts';
import type { ChangeClass, JsonChange, MeshDiff } from './answers.ts';
import { shortType } from './config-dump.ts';

/** Proxies of a class that are named. */
const PROXIES_SHOWN_MAX = 5;
const VALUE_CHARS_MAX = 120;

export interface DiffOutcome {
  /** What is compared, e.g. `event 111 → event 112`. */
  readonly title: string;
  readonly difference: MeshDiff;
  /** Objects of a proposal that would be refused. */
  readonly refused: readonly string[];
}

export function diffMarkdown({ title, difference, refused }: DiffOutcome): string {
  const lines = [`### xDS: ${title}\n\n${closingText(difference)}`];
  if (refused.length > 0) lines.push(`\n**Refused**\n\n${refused.map(line => `- ${line}`).join('\n')}`);
  for (const { message } of difference.warnings) lines.push(`- :warning: **${message}**`);
  for (const one of difference.classes) {
    lines.push(`\n#### ${proxiesText(one)}\n`);
    for (const { message } of one.warnings) lines.push(`- :warning: **${message}**`);
    for (const line of one.summary) lines.push(`- ${line}`);
    lines.push('\n<details><summary>fields</summary>\n\n```diff');
    for (const { typeUrl, name, change, changes } of one.resources) {
      lines.push(`@@ ${change} ${shortType(typeUrl)} ${name} @@`);
      if (change === 'changed') lines.push(...changes.flatMap(changeLines));
    }
    lines.push('```\n\n</details>');
  }
  return lines.join('\n');
}

/** `- path: before` and `+ path: after`. */
export function changeLines({ path, before, after, reordered }: JsonChange): readonly string[] {
  if (reordered === true) return [`~ ${path}: the same parts in another order`];
  return [
    ...(before === undefined ? [] : [`- ${path}: ${valueText(before)}`]),
    ...(after === undefined ? [] : [`+ ${path}: ${valueText(after)}`]),
  ];
}

function valueText(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > VALUE_CHARS_MAX ? `${text.slice(0, VALUE_CHARS_MAX)}…` : text;
}

export function proxiesText({ proxies }: ChangeClass): string {
  const shown = proxies.slice(0, PROXIES_SHOWN_MAX).join(', ');
  const more = proxies.length > PROXIES_SHOWN_MAX ? ', …' : '';
  return `${proxies.length} ${proxies.length === 1 ? 'proxy' : 'proxies'}: ${shown}${more}`;
}

export function closingText({ classes, unchanged, onlyBefore, onlyAfter }: MeshDiff): string {
  const changed = classes.reduce((sum, { proxies }) => sum + proxies.length, 0);
  const parts = [`${changed} of ${changed + unchanged} proxies change`];
  if (onlyBefore.length > 0) parts.push(`only before: ${onlyBefore.join(', ')}`);
  if (onlyAfter.length > 0) parts.push(`only after: ${onlyAfter.join(', ')}`);
  return parts.join('; ');
}
