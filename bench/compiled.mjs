// `node --import ./bench/compiled.mjs bench/FILE.ts`: runs TypeScript as the build compiles it. tsx gives every function its name as it is made, a
// call of Object.defineProperty for each closure, which takes a fifth of a generation and is not in what users run.
import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import typescript from 'typescript';

if (isMainThread) register(import.meta.url);

const root = fileURLToPath(new URL('..', import.meta.url));
const { config } = typescript.readConfigFile(`${root}tsconfig.json`, typescript.sys.readFile);
const { target } = typescript.convertCompilerOptionsFromJson(config.compilerOptions, root).options;
const compilerOptions = { target, module: typescript.ModuleKind.ESNext, verbatimModuleSyntax: true };

/** A hook of Node's module loader. */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const fileName = fileURLToPath(url);
  const { outputText } = typescript.transpileModule(readFileSync(fileName, 'utf8'), { fileName, compilerOptions });
  return { format: 'module', source: outputText, shortCircuit: true };
}
