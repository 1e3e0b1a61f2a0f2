// Why a proxy refuses what it was sent, out of its message: some of Envoy's faults print the whole resource as text
// first (MessageUtil and ProtoValidationException in envoy/source/common/protobuf) and the reason after hundreds of
// lines. Reading it cuts nothing away: the whole message stays beside it.

/** `field: value`, `field {` and `}` of a message in protobuf's text format, and what Envoy writes above it. */
const PRINTED =
  /^\s*(?:[a-z][a-z0-9_]*: (?:".*"|[-0-9][-0-9.e+]*|[A-Z][A-Z0-9_]*|true|false)|[\w[\]./]+ \{|\}|goo\.gle\/\S+)\s*$/;

/** The lines that print no resource; the message itself if there is none. */
export function refusalReason(message: string): string {
  const lines = message.split('\n').filter(line => line.trim() !== '' && !PRINTED.test(line));
  const said = lines.map(line => line.replace(/^: /, '').trim()).join(' ');
  return said === '' ? message.trim() : said;
}
