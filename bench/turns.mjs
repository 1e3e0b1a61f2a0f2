// `NODE_OPTIONS='--import bench/turns.mjs'`: the longest turn of a server's event loop, by the CPU time of its main
// thread, which other programs on the machine do not lengthen. On SIGUSR2 it is written to the file TURNS_FILE, in
// milliseconds, and counted anew. A turn is what lies between two calls of a timer, so up to LOOK_MS are too much.
import { openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const LOOK_MS = 5;
const { TURNS_FILE: file } = process.env;

if (isMainThread && file !== undefined) {
  const descriptor = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const buffer = Buffer.alloc(64);
  const cpuMs = () => {
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
  };
  let last = cpuMs();
  let longest = 0;
  setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, LOOK_MS).unref();
  process.on('SIGUSR2', () => {
    writeFileSync(`${file}.next`, String(longest));
    renameSync(`${file}.next`, file);
    longest = 0;
  });
}
