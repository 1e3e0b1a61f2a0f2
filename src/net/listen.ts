// Binds a listener of one of this process's ports.

import type { Server } from 'node:net';

/**
 * Resolves with the port. Without a host both families, or IPv4 alone where the machine has no IPv6. Rejects if the
 * address cannot be bound; `onError` gets the errors of a bound listener.
 */
export function listen(
  listener: Server,
  { host, port }: { readonly host: string; readonly port: number },
  onError: (message: string) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen({ port, ...(host === '' ? {} : { host }) }, () => {
      listener.removeListener('error', reject);
      listener.on('error', error => onError(error.message));
      const address = listener.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
