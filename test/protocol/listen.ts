// The connections of a socket of its own for an ADS server, as they come.

import { createServer } from 'node:net';
import type { XdsServer } from '../../src/xds/grpc/server.ts';

/** `at`: a port of loopback (0: any), or the path of a Unix socket. Resolves with the port; 0 for a path. */
export function listen(server: XdsServer, at: number | string = 0): Promise<number> {
  const injector = server.injector();
  const listener = createServer(socket => injector.injectConnection(socket));
  listener.unref();
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    const where = typeof at === 'string' ? { path: at } : { port: at, host: '127.0.0.1' };
    listener.listen(where, () => {
      const address = listener.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
