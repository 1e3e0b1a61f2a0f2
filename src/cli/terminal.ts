// What the terminal allows: colour, and how wide a table may be. Nothing of it applies to pipes and files, so what
// scripts read never depends on the terminal.
//
// NO_COLOR (https://no-color.org) and TERM=dumb switch colour off, FORCE_COLOR switches it on in a pipe.

export const COLOURS = { red: '1;31', yellow: '33', green: '32', dim: '2' } as const;
export type Colour = keyof typeof COLOURS;

/** Columns of a terminal that does not say. */
const WIDTH_DEFAULT = 80;

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}
type Environment = Readonly<Record<string, string | undefined>>;

export function hasColour(stream: Stream = process.stdout, env: Environment = process.env): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

export function coloured(text: string, colour: Colour, on = hasColour()): string {
  return on && text !== '' ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
}

/** Undefined where lines may be as long as they are. */
export function widthOf(stream: Stream = process.stdout): number | undefined {
  return stream.isTTY === true ? (stream.columns ?? WIDTH_DEFAULT) : undefined;
}

/**
 * What a terminal acts on: control characters but tab and line feed, and those that turn the direction of text. The
 * first alternative is our own colours.
 */
const ACTS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /\u001b\[(?:0|2|1;31|33|32)m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Text that a terminal only shows. Names and messages come from proxies and files, and are not ours; what would act is
 * written as JSON escapes it, a carriage return too, which would overwrite the line.
 */
export function shown(text: string): string {
  return text.replace(ACTS, found =>
    found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A name or message that is to stay on its line: a line feed in it would begin what looks like a line of ours. */
export function oneLine(text: string): string {
  return text.replaceAll('\n', '\\n');
}
