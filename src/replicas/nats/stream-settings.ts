// The settings that make a JetStream stream an ordered log that keeps everything: created so, or compared with what is
// there. A stream that drops, rewrites or loses messages is refused, because every replica would rely on it.

import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';

/** In which a repeated append is recognised by its id, nanoseconds: two minutes. */
export const DUPLICATE_WINDOW_NS = 120_000_000_000;

export function streamName(mesh: string): string {
  return `periplus-${mesh}`;
}

export function subjectOf(mesh: string): string {
  return `periplus.${mesh}.world`;
}

export function streamSettings(mesh: string, replicas: number) {
  return {
    name: streamName(mesh),
    subjects: [subjectOf(mesh)],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    num_replicas: replicas,
    max_msgs: -1,
    max_bytes: -1,
    max_age: 0,
    max_msgs_per_subject: -1,
    duplicate_window: DUPLICATE_WINDOW_NS,
    deny_delete: true,
    deny_purge: true,
    description: 'the world log of a mesh: what several replicas of Periplus fold',
  } satisfies Partial<StreamConfig>;
}

/** The settings of an existing stream that make it unfit, in words; empty: it is fit. */
export function unfitSettings(found: StreamConfig, mesh: string, replicas: number): readonly string[] {
  const wanted = streamSettings(mesh, replicas);
  const wrong: string[] = [];
  const expect = (name: string, value: unknown, expected: unknown, why: string): void => {
    if (value !== expected) wrong.push(`${name} is ${String(value)}, expected ${String(expected)}: ${why}`);
  };
  expect('retention', found.retention, wanted.retention, 'other policies delete what was read');
  expect('storage', found.storage, wanted.storage, 'a log in memory is gone with its servers');
  expect('discard', found.discard, wanted.discard, 'the old end of the log is dropped when it is full');
  expect('deny_delete', found.deny_delete, true, 'a message could be deleted from the middle');
  expect('deny_purge', found.deny_purge, true, 'the log could be emptied');
  expect('subjects', found.subjects.join(), wanted.subjects.join(), 'other messages would be in between');
  if (found.max_age > 0) wrong.push(`max_age is ${found.max_age} ns, expected 0: entries would expire`);
  if (found.max_msgs > 0) wrong.push(`max_msgs is ${found.max_msgs}, expected -1: the log would stop there`);
  if (found.max_bytes > 0) wrong.push(`max_bytes is ${found.max_bytes}, expected -1: the log would stop there`);
  if (found.max_msgs_per_subject > 0) {
    wrong.push(`max_msgs_per_subject is ${found.max_msgs_per_subject}, expected -1: older entries would be dropped`);
  }
  if (found.duplicate_window < DUPLICATE_WINDOW_NS) {
    wrong.push(`duplicate_window is ${found.duplicate_window} ns, expected ${DUPLICATE_WINDOW_NS} or more`);
  }
  if (found.num_replicas < replicas) {
    wrong.push(`num_replicas is ${found.num_replicas}, expected ${replicas} or more (--journal-replicas)`);
  }
  if (found.mirror !== undefined || (found.sources?.length ?? 0) > 0) {
    wrong.push('it copies another stream: its positions would not be those of its writers');
  }
  return wrong;
}
