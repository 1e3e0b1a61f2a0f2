// periplus completion: scripts for four shells, and the words that they ask for. A script holds no list of its own:
// it calls `periplus complete`, so commands, flags and names are always those of this release and this journal.
//
// Names of proxies and objects come from the newest events of the journal, bounded: a key press must not fold a
// history. A running control plane names the proxies that are connected to it.

import { Command, type Option } from 'commander';
import { isObject, type JsonObject } from '../core/base/json.ts';
import { objectOfBody } from '../history/event-summary.ts';
import { kindNamed } from '../history/object-name.ts';
import type { Journal } from '../journal/journal.ts';
import { withJournal } from './journal-file.ts';
import { CliError, EXIT, print } from './output.ts';
import { askServer, DEFAULT_ADDRESS, DEFAULT_JOURNAL } from './target.ts';

/** Events that are looked into for names. */
const EVENTS_MAX = 500;

const scripts: Readonly<Record<string, string>> = {
  bash: `_periplus() {
  local IFS=$'\\n'
  COMPREPLY=($(periplus complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _periplus periplus`,
  zsh: `#compdef periplus
_periplus() {
  local -a words_found
  words_found=("\${(@f)$(periplus complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- $words_found || _files
}
compdef _periplus periplus`,
  fish: `complete -c periplus -a '(periplus complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
  powershell: `Register-ArgumentCompleter -Native -CommandName periplus -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($wordToComplete -eq '') { $words += '' }
  periplus complete -- @words 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`,
};

export function completionCommand(): Command {
  const shells = Object.keys(scripts).join(', ');
  return new Command('completion')
    .description(`print a completion script for ${shells}`)
    .argument('<shell>', shells)
    .addHelpText(
      'after',
      `
Examples:
  source <(periplus completion bash)
  periplus completion zsh > "\${fpath[1]}/_periplus"
  periplus completion fish > ~/.config/fish/completions/periplus.fish
  periplus completion powershell | Out-String | Invoke-Expression`,
    )
    .action((shell: string) => {
      const script = scripts[shell];
      if (script === undefined) throw new CliError(`${shell}: expected one of ${shells}`, EXIT.misuse);
      print(script);
    });
}

/** `root`: the whole program, whose commands and flags are completed. */
export function completeCommand(root: () => Promise<Command>): Command {
  return new Command('complete')
    .description('the words that may follow, one a line; for completion scripts')
    .argument('[words...]')
    .action(async (words: readonly string[]) => {
      for (const word of await completions(await root(), words)) print(word);
    });
}

export async function completions(root: Command, words: readonly string[]): Promise<readonly string[]> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  let command = root;
  let given = 0;
  for (const [i, word] of before.entries()) {
    // The value of a flag is no argument.
    if (optionOf(command, before[i - 1])?.required === true) continue;
    const child = command.commands.find(one => one.name() === word || one.aliases().includes(word));
    if (child !== undefined) {
      command = child;
      given = 0;
    } else if (!word.startsWith('-')) given++;
  }
  const candidates = await candidatesOf(command, before, typed, given);
  return [...new Set(candidates)].filter(word => word.startsWith(typed)).sort();
}

function optionOf({ options }: Command, word: string | undefined): Option | undefined {
  return word === undefined ? undefined : options.find(({ short, long }) => word === short || word === long);
}

async function candidatesOf(
  command: Command,
  before: readonly string[],
  typed: string,
  given: number,
): Promise<readonly string[]> {
  const option = optionOf(command, before.at(-1));
  if (option?.required === true || (option?.optional === true && !typed.startsWith('-'))) {
    return valuesOf(option.attributeName(), before, typed);
  }
  if (typed.startsWith('-')) return command.options.flatMap(({ long }) => (long == null ? [] : [long]));
  if (command.commands.length > 0) return command.commands.map(one => one.name());
  const argument = command.registeredArguments[given];
  return argument === undefined ? [] : valuesOf(argument.name(), before, typed);
}

const PROXIES: readonly string[] = ['proxy', 'target', 'from'];
const OBJECTS: readonly string[] = ['object', 'for', 'delete'];

async function valuesOf(name: string, before: readonly string[], typed: string): Promise<readonly string[]> {
  if (name === 'output') return ['table', 'json', 'yaml'];
  if (name === 'shell') return Object.keys(scripts);
  const wants = PROXIES.includes(name) ? 'proxies' : OBJECTS.includes(name) ? 'objects' : undefined;
  if (wants === undefined) return [];
  const given = flagValue(before, '-j', '--journal');
  const journal = given ?? DEFAULT_JOURNAL;
  const found = await withJournal(journal, one => (wants === 'proxies' ? proxyNames(one) : objectNames(one))).catch(
    (): readonly string[] => [],
  );
  if (wants === 'objects') return [...found, ...inTheWordsOf(typed, found)];
  if (given !== undefined) return found;
  return [...found, ...(await connectedNames(flagValue(before, '--address') ?? DEFAULT_ADDRESS).catch(() => []))];
}

function flagValue(before: readonly string[], ...flags: readonly string[]): string | undefined {
  const at = before.findIndex(word => flags.includes(word));
  return at < 0 ? undefined : before[at + 1];
}

/** The objects of a kind as it was typed: `vs/shop/reviews` of VirtualService/shop/reviews. */
function inTheWordsOf(typed: string, names: readonly string[]): readonly string[] {
  const slash = typed.indexOf('/');
  const word = typed.slice(0, Math.max(slash, 0));
  const kind = kindNamed(word);
  if (kind === undefined) return [];
  return names.filter(name => name.startsWith(`${kind}/`)).map(name => `${word}${name.slice(kind.length)}`);
}

/** Of the proxies that are connected to a running control plane. */
async function connectedNames(address: string): Promise<readonly string[]> {
  const body = await askServer(address, '/debug/syncz');
  return Array.isArray(body)
    ? body.flatMap(one => (isObject(one) && typeof one.proxy === 'string' ? [one.proxy] : []))
    : [];
}

async function proxyNames(journal: Journal): Promise<readonly string[]> {
  const names: string[] = [];
  await eachBody(journal, ['ProxyConnected'], body => {
    const id = isObject(body.node) ? String(body.node.id ?? '') : '';
    const name = id.split('~')[2];
    if (name !== undefined) names.push(name);
  });
  return names;
}

async function objectNames(journal: Journal): Promise<readonly string[]> {
  const names: string[] = [];
  await eachBody(journal, ['Add', 'Update'], body => {
    const name = objectOfBody(body);
    if (name !== undefined) names.push(name.replace(' ', '/'));
  });
  return names;
}

/** The newest events of these kinds. */
async function eachBody(journal: Journal, kinds: readonly string[], use: (body: JsonObject) => void): Promise<void> {
  for (const kind of kinds) {
    const seqs = await journal.seqsOf(kind, { from: 1, to: journal.head().seq });
    for (const seq of seqs.slice(-EVENTS_MAX)) {
      for await (const [event] of journal.records({ from: seq, to: seq, secrets: 'redacted' })) {
        if (event !== undefined) use(JSON.parse(event.body) as JsonObject);
      }
    }
  }
}
