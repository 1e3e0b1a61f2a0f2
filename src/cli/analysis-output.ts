// How analysis is printed: istioctl's lines and JSON, a table, and the reports that other tools read: SARIF 2.1.0 (code
// scanning), JUnit XML (test reports) and annotations of GitHub Actions.
//
// Source: Istio istioctl/pkg/util/formatting; SARIF 2.1.0 (OASIS); GitHub, "Workflow commands for GitHub Actions".

import { stringify } from 'yaml';
import { VERSION } from '../admin/version.ts';
import { messageKinds } from '../analysis/catalogue.ts';
import { documentationOf, friendlyName, type Level, type Message } from '../analysis/message.ts';
import type { JsonObject } from '../core/base/json.ts';
import { type Origin, showOrigin } from '../core/base/problem.ts';
import { CliError, EXIT, print, printData, printTable } from './output.ts';
import { coloured } from './terminal.ts';

/** A message and the place that it is about, as exactly as it is known. */
export interface PlacedMessage {
  readonly message: Message;
  readonly place: Origin | undefined;
}

type Print = (messages: readonly PlacedMessage[]) => void;

const printers = {
  log: printLog,
  table: printMessageTable,
  json: messages => printData(messages.map(plainly), 'json'),
  yaml: messages => print(stringify(messages.map(plainly), { lineWidth: 0 })),
  sarif: messages => printData(sarifOf(messages), 'json'),
  junit: messages => print(junitOf(messages, 'periplus')),
  github: printGithub,
} as const satisfies Readonly<Record<string, Print>>;

export const ANALYSIS_FORMATS = Object.keys(printers).join(', ');
/** Formats that people read. */
export type AnalysisFormat = keyof typeof printers;

export function analysisFormatOf(text: string): AnalysisFormat {
  if (Object.hasOwn(printers, text)) return text as AnalysisFormat;
  throw new CliError(`-o ${text}: expected one of ${ANALYSIS_FORMATS}`, EXIT.misuse);
}

/** `command`: whose report it is. */
export function printAnalysis(messages: readonly PlacedMessage[], format: AnalysisFormat, command = 'analyze'): void {
  if (format === 'junit') print(junitOf(messages, `periplus ${command}`));
  else printers[format](messages);
}

/** As `istioctl analyze -o json` has it. */
function plainly({ message, place }: PlacedMessage): JsonObject {
  const { code, level, text, item, path } = message;
  const documentationUrl = documentationOf(code);
  return {
    code,
    level,
    ...(item === undefined ? {} : { origin: friendlyName(item) }),
    ...(place === undefined ? {} : { reference: showOrigin(place) }),
    ...(path === undefined ? {} : { path }),
    message: text,
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
  };
}

function subjectOf({ message: { item }, place }: PlacedMessage): string {
  return [item === undefined ? '' : friendlyName(item), showOrigin(place)].filter(part => part !== '').join(' ');
}

function levelText(level: Level): string {
  return level === 'Info' ? level : coloured(level, level === 'Error' ? 'red' : 'yellow');
}

function printLog(messages: readonly PlacedMessage[]): void {
  for (const placed of messages) {
    const { level, code, text } = placed.message;
    const subject = subjectOf(placed);
    print(`${levelText(level)} [${code}]${subject === '' ? '' : ` (${subject})`} ${text}`);
  }
}

function printMessageTable(messages: readonly PlacedMessage[]): void {
  if (messages.length === 0) return;
  const rows = messages.map(({ message: { level, code, item, text }, place }) => [
    levelText(level),
    code,
    item === undefined ? '' : friendlyName(item),
    showOrigin(place),
    text,
  ]);
  printTable(['LEVEL', 'CODE', 'OBJECT', 'WHERE', 'MESSAGE'], rows);
}

// --- reports
// -----------------------------------------------------------------------------------------------------------

const sarifLevels = { Error: 'error', Warning: 'warning', Info: 'note' } as const;

function sarifOf(messages: readonly PlacedMessage[]): JsonObject {
  const codes = new Set(messages.map(({ message }) => message.code));
  const rules = messageKinds
    .filter(({ code }) => codes.has(code))
    .map(({ code, name, level }) => {
      const helpUri = documentationOf(code);
      const defaultConfiguration = { level: sarifLevels[level] };
      return { id: code, name, defaultConfiguration, ...(helpUri === undefined ? {} : { helpUri }) };
    });
  const results = messages.map(({ message: { code, level, text, item }, place }) => ({
    ruleId: code,
    level: sarifLevels[level],
    message: { text: item === undefined ? text : `${friendlyName(item)}: ${text}` },
    ...sarifLocations(place, item === undefined ? '' : friendlyName(item)),
  }));
  const driver = { name: 'periplus', version: VERSION, rules };
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return { $schema, version: '2.1.0', runs: [{ tool: { driver }, results }] };
}

/** None of a message about no object and no file. */
function sarifLocations(place: Origin | undefined, name: string): JsonObject {
  const logicalLocations = name === '' ? {} : { logicalLocations: [{ fullyQualifiedName: name }] };
  if (place === undefined) return name === '' ? {} : { locations: [logicalLocations] };
  const { file, line, column } = place;
  const region = line === undefined ? {} : { region: { startLine: line, startColumn: column ?? 1 } };
  return { locations: [{ physicalLocation: { artifactLocation: { uri: file }, ...region }, ...logicalLocations }] };
}

/** `suite`: the name of the report. */
function junitOf(messages: readonly PlacedMessage[], suite: string): string {
  const failures = messages.filter(({ message }) => message.level !== 'Info');
  const cases = failures.map(placed => {
    const { level, code, name, text } = placed.message;
    const subject = subjectOf(placed);
    return [
      `    <testcase classname="${xml(`${code} ${name}`)}" name="${xml(subject === '' ? text : subject)}">`,
      `      <failure type="${level}" message="${xml(text)}">${xml(subject === '' ? text : `${subject}: ${text}`)}</failure>`,
      '    </testcase>',
    ].join('\n');
  });
  if (cases.length === 0) cases.push(`    <testcase classname="${suite}" name="no issues"/>`);
  const counts = `tests="${cases.length}" failures="${failures.length}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${suite}" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
  ].join('\n');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function xml(text: string): string {
  return text
    .replace(/[&<>"]/g, character => entities[character] ?? character)
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD');
}

const githubLevels = { Error: 'error', Warning: 'warning', Info: 'notice' } as const;

function printGithub(messages: readonly PlacedMessage[]): void {
  for (const { message, place } of messages) print(githubLine(message, place));
}

function githubLine({ level, code, name, text, item }: Message, place: Origin | undefined): string {
  const properties = { file: place?.file, line: place?.line, col: place?.column, title: `${code} ${name}` };
  const given = Object.entries(properties).filter(([, value]) => value !== undefined);
  const shown = given.map(
    ([key, value]) => `${key}=${escaped(String(value)).replace(/:/g, '%3A').replace(/,/g, '%2C')}`,
  );
  const subject = item === undefined ? '' : `${friendlyName(item)}: `;
  return `::${githubLevels[level]} ${shown.join(',')}::${escaped(subject + text)}`;
}

function escaped(text: string): string {
  return text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}
