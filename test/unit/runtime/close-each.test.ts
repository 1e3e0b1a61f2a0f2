import { expect, it } from 'vitest';
import { closeEach } from '../../../src/runtime/close-each.ts';

it('a part that cannot be closed keeps no other open, and its reason is heard after the others are closed', async () => {
  const did: string[] = [];
  const bad = async (): Promise<void> => {
    throw new Error('the disk is full');
  };
  const good = async (): Promise<void> => void did.push('closed');
  const log = (level: string, message: string): void => void did.push(`${level}: ${message}`);
  await expect(closeEach([bad, good], log)).rejects.toThrow('the disk is full');
  expect(did).toEqual(['error: while stopping: the disk is full', 'closed']);
});
