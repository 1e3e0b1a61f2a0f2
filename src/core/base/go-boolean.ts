// The truth words of Go's strconv.ParseBool, in which Istio's flags, annotations and node metadata are written.

const TRUE: readonly (string | undefined)[] = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE: readonly (string | undefined)[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** Undefined: it is none of the words. */
export function goBoolean(text: string | undefined): boolean | undefined {
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : undefined;
}
