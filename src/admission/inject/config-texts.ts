// The texts of the injector's ConfigMap as objects. They are YAML of up to the size of a ConfigMap, which takes seconds
// to parse: a process that serves has them parsed by a thread first and hands over what they are (`knownObjects`), so
// that the queries that read them do not parse. A memo of a pure function: what it holds changes no result.

import { objectsOf, type YamlObjects } from '../../core/base/yaml-objects.ts';

/** Texts that are remembered: both of the ConfigMap in force and of one that is about to be. */
const TEXTS_KEPT = 4;
/** A shorter text is parsed again, which costs some tens of milliseconds at most. */
export const QUICK_CHARS_MAX = 2 * 1024;

/** By text; the one that was given longest ago first. */
const known = new Map<string, YamlObjects>();

/** `objects`: what `objectsOf` gives for the text. */
export function knownObjects(text: string, objects: YamlObjects): void {
  known.delete(text);
  known.set(text, objects);
  for (const oldest of known.keys()) {
    if (known.size <= TEXTS_KEPT) break;
    known.delete(oldest);
  }
}

export function isKnown(text: string): boolean {
  return text.length <= QUICK_CHARS_MAX || known.has(text);
}

export function objectsOfText(text: string): YamlObjects {
  return known.get(text) ?? objectsOf(text);
}
