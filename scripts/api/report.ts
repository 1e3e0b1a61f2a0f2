// The public API as text: each entry of package.json with the declarations it exports, without bodies and comments. Made
// from the syntax alone, so that it costs a second; exported functions of this project name their types. A type that a
// public declaration mentions and that no entry exports is a leak, and is listed as one; types in OPAQUE are public by
// name only. `npm run api` writes docs/api/report.txt, `npm run check:api` compares.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');
export const ENTRIES: Readonly<Record<string, string>> = {
  periplus: 'src/index.ts',
  'periplus/journal': 'src/journal/main.ts',
  'periplus/history': 'src/history/main.ts',
  'periplus/testing': 'src/testing/main.ts',
  'periplus/adapter': 'src/adapters/main.ts',
  'periplus/oracle': 'src/oracle-entry.ts',
};

/** Public by name: values are passed from one function to another, members are no API. */
const OPAQUE: ReadonlySet<string> = new Set([
  'State',
  'Obj',
  'ProxyRecord',
  'Tracker',
  'Checkpoints',
  'UnreadVersion',
  'Provenance',
  'KindName',
  'Settings',
]);
/** Envoy's messages in TypeScript: public as Envoy's API is. */
const MESSAGES = 'src/xds/proto/types.gen.ts';

interface Declared {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  /** `file#name` of each type that it mentions. */
  readonly mentions: readonly string[];
}

const files = new Map<string, ts.SourceFile>();
function parsed(file: string): ts.SourceFile {
  const known = files.get(file);
  if (known !== undefined) return known;
  const made = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ES2023, true);
  files.set(file, made);
  return made;
}

function pathFrom(file: string, specifier: ts.Expression): string | undefined {
  const text = (specifier as ts.StringLiteral).text;
  if (!text.startsWith('.')) return undefined;
  const path = relative(root, resolve(root, dirname(file), text));
  return existsSync(join(root, path)) ? path : undefined;
}

/** Name in the file → where it comes from, for names imported from files of ours. */
function importsOf(file: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const statement of parsed(file).statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const from = pathFrom(file, statement.moduleSpecifier);
    const named = statement.importClause?.namedBindings;
    if (from === undefined || named === undefined || !ts.isNamedImports(named)) continue;
    for (const one of named.elements) found.set(one.name.text, `${from}#${(one.propertyName ?? one.name).text}`);
  }
  return found;
}

/** The statement that declares a name, followed through re-exports. */
function declarationOf(file: string, name: string): readonly [file: string, node: ts.Statement] {
  for (const statement of parsed(file).statements) {
    if (ts.isVariableStatement(statement)) {
      if (statement.declarationList.declarations.some(one => one.name.getText() === name)) return [file, statement];
    } else if (
      (ts.isFunctionDeclaration(statement) ||
        ts.isClassDeclaration(statement) ||
        ts.isInterfaceDeclaration(statement) ||
        ts.isTypeAliasDeclaration(statement)) &&
      statement.name?.text === name
    ) {
      return [file, statement];
    }
  }
  throw new Error(`${file} does not declare ${name}`);
}

const isHidden = (member: ts.ClassElement): boolean =>
  (member.name !== undefined && ts.isPrivateIdentifier(member.name)) ||
  (ts.canHaveModifiers(member) &&
    (ts.getModifiers(member) ?? []).some(one => one.kind === ts.SyntaxKind.PrivateKeyword));

/** The declaration without bodies and initial values. */
function signature(node: ts.Statement): ts.Node {
  const bare = (list: readonly ts.ParameterDeclaration[]): ts.ParameterDeclaration[] =>
    list.map(one => {
      const given =
        one.initializer === undefined ? one.questionToken : ts.factory.createToken(ts.SyntaxKind.QuestionToken);
      const name = ts.isIdentifier(one.name) ? one.name : 'options';
      return ts.factory.createParameterDeclaration(one.modifiers, one.dotDotDotToken, name, given, one.type);
    });
  const f = ts.factory;
  if (ts.isFunctionDeclaration(node)) {
    return f.createFunctionDeclaration(
      undefined,
      undefined,
      node.name,
      node.typeParameters,
      bare(node.parameters),
      node.type,
      undefined,
    );
  }
  if (!ts.isClassDeclaration(node)) return node;
  const members = node.members
    .filter(one => !isHidden(one))
    .map((one): ts.ClassElement => {
      if (ts.isMethodDeclaration(one)) {
        return f.createMethodDeclaration(
          undefined,
          undefined,
          one.name,
          undefined,
          one.typeParameters,
          bare(one.parameters),
          one.type,
          undefined,
        );
      }
      if (ts.isConstructorDeclaration(one))
        return f.createConstructorDeclaration(undefined, bare(one.parameters), undefined);
      if (ts.isGetAccessorDeclaration(one))
        return f.createGetAccessorDeclaration(undefined, one.name, [], one.type, undefined);
      if (ts.isPropertyDeclaration(one)) {
        return one.type === undefined
          ? one
          : f.createPropertyDeclaration(one.modifiers, one.name, one.questionToken, one.type, undefined);
      }
      return one;
    });
  return f.createClassDeclaration(undefined, node.name, node.typeParameters, node.heritageClauses, members);
}

/** Types that the public part mentions, as written. */
function mentionsOf(file: string, node: ts.Node): readonly string[] {
  const imports = importsOf(file);
  const local = new Set(
    parsed(file).statements.flatMap(one =>
      ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one) || ts.isClassDeclaration(one)
        ? [one.name?.text]
        : [],
    ),
  );
  const found = new Set<string>();
  const visit = (one: ts.Node): void => {
    if (ts.isTypeReferenceNode(one) || ts.isExpressionWithTypeArguments(one)) {
      const name = ts.isTypeReferenceNode(one) ? one.typeName : one.expression;
      if (ts.isIdentifier(name)) {
        const from = imports.get(name.text) ?? (local.has(name.text) ? `${file}#${name.text}` : undefined);
        if (from !== undefined) found.add(from);
      }
    }
    ts.forEachChild(one, visit);
  };
  visit(node);
  return [...found];
}

const printer = ts.createPrinter({ removeComments: true });

function declared(_entry: string, name: string, from: string): Declared {
  const [file, node] = declarationOf(from, name);
  if (OPAQUE.has(name)) return { name, file, text: `${name}: opaque`, mentions: [] };
  if (ts.isVariableStatement(node)) {
    const one = node.declarationList.declarations.find(each => each.name.getText() === name)!;
    const type = one.type?.getText() ?? one.initializer?.getText().replace(/\s+/g, ' ').slice(0, 60) ?? '';
    const mentions = one.type === undefined ? [] : mentionsOf(file, one.type);
    return { name, file, text: `const ${name}: ${type}`, mentions };
  }
  const public_ = signature(node);
  const text = printer.printNode(ts.EmitHint.Unspecified, public_, parsed(file)).replace(/^export /, '');
  return { name, file, text, mentions: mentionsOf(file, public_) };
}

function namesOf(entry: string): readonly Declared[] {
  return parsed(entry).statements.flatMap(statement => {
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) return [];
    const from = pathFrom(entry, statement.moduleSpecifier)!;
    const clause = statement.exportClause;
    if (clause === undefined || !ts.isNamedExports(clause)) throw new Error(`${entry}: name each export`);
    return clause.elements.map(one => declared(entry, one.name.text, from));
  });
}

/** The report, and the types that public declarations mention and no entry exports. */
export function apiReport(): { readonly text: string; readonly leaks: readonly string[] } {
  const entries = Object.entries(ENTRIES).map(([name, file]) => [name, namesOf(file)] as const);
  const exported = new Set(entries.flatMap(([, names]) => names.map(one => `${one.file}#${one.name}`)));
  const leaks = new Set<string>();
  for (const one of entries.flatMap(([, names]) => names)) {
    for (const mention of one.mentions) {
      if (!exported.has(mention) && !mention.startsWith(`${MESSAGES}#`)) leaks.add(`${mention} (in ${one.name})`);
    }
  }
  const sorted = (names: readonly Declared[]): readonly Declared[] =>
    [...names].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const parts = entries.map(([name, names]) => {
    const texts = sorted(names).map(({ text }) => text);
    return `# ${name} (${names.length} names)\n\n${texts.join('\n\n')}\n`;
  });
  return { text: parts.join('\n'), leaks: [...leaks].sort() };
}
