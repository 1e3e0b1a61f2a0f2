// Records the samples of journal/fixtures from the running system: `npx tsx scripts/record-samples.ts DIRECTORY [NAME …]`. A real control plane
// serves a folder of files that the story changes, real streams connect and answer, and its journal is exported. What is committed is never
// recorded again: a sample has to replay as it was recorded.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Stage } from './samples/stage.ts';
import { stories } from './samples/stories.ts';

const [given, ...named] = process.argv.slice(2);
if (given === undefined) throw new Error('give the directory to write to');
const directory = resolve(given);
mkdirSync(directory, { recursive: true });

for (const name of named.length > 0 ? named : Object.keys(stories)) {
  const story = stories[name];
  if (story === undefined) throw new Error(`no story ${name}; there are ${Object.keys(stories).join(', ')}`);
  const stage = new Stage(story.day);
  try {
    await story.play(stage);
    const { lines, seq, hash } = await stage.recorded();
    writeFileSync(join(directory, `${name}.jsonl`), lines.join(''), { flag: 'wx' });
    process.stdout.write(`  "${name}": { "seq": ${seq}, "hash": "${hash}" }\n`);
  } finally {
    await stage.close();
    stage.remove();
  }
}
