// One GET of a document of the outside: what an operator reads when there is no answer.

import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { download } from '../../../src/identity/sources/download.ts';

it('a download that fails says what failed below it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise(resolve => server.close(resolve));
  await expect(download(`https://127.0.0.1:${port}/bundle`)).rejects.toThrow(/^fetch failed: .*ECONNREFUSED/);
});
