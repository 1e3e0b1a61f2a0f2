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
