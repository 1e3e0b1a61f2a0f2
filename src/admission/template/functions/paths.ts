// sprig's functions on paths with slashes, those of the file system being the same. Source: Go path/path.go.

import { ofTexts } from '../arguments.ts';
import type { TemplateFunction } from '../evaluate.ts';

const onPaths: { readonly [name: string]: TemplateFunction } = {
  base: ofTexts(1, path => baseOf(path!)),
  dir: ofTexts(1, path => cleaned(path!.slice(0, path!.lastIndexOf('/') + 1))),
  clean: ofTexts(1, path => cleaned(path!)),
  ext: ofTexts(1, path => extensionOf(path!)),
  isAbs: ofTexts(1, path => path!.startsWith('/')),
};

/** Each also as `osBase`, `osDir` and so on. */
export const paths: { readonly [name: string]: TemplateFunction } = Object.fromEntries(
  Object.entries(onPaths).flatMap(([name, call]) => [
    [name, call],
    [`os${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, call],
  ]),
);

function baseOf(path: string): string {
  if (path === '') return '.';
  const parts = path.split('/').filter(part => part !== '');
  return parts.at(-1) ?? '/';
}

/** The shortest path of the same meaning. */
function cleaned(path: string): string {
  const isAbsolute = path.startsWith('/');
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!isAbsolute) kept.push(part);
  }
  const joined = kept.join('/');
  return isAbsolute ? `/${joined}` : joined || '.';
}

function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
}
