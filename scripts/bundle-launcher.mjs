#!/usr/bin/env node
// Periplus in one file. What it needs is packed at the end of this file; the first run unpacks it into the user's cache
// folder (or a folder of its own, where that cannot be written), and every run starts it from there.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';

const DIGEST = '__DIGEST__';
const self = fileURLToPath(import.meta.url);

/** Complete or absent: it is unpacked beside its place and renamed. */
function unpackedIn(parent) {
  const folder = join(parent, `bundle-${DIGEST}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  try {
    unpackTo(unfinished);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another process may have been faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function unpackTo(folder) {
  const text = readFileSync(self, 'latin1');
  const packed = Buffer.from(text.slice(text.lastIndexOf('\n//packed ') + 10), 'base64');
  for (const [name, content] of Object.entries(JSON.parse(gunzipSync(packed).toString('utf8')))) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, Buffer.from(content, 'base64'));
  }
}

function folderOfProgram() {
  try {
    return unpackedIn(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'periplus'));
  } catch {
    const folder = mkdtempSync(join(tmpdir(), 'periplus-'));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    return unpackedIn(folder);
  }
}

await import(pathToFileURL(join(folderOfProgram(), 'dist/cli/main.js')).href);
