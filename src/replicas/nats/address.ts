// `--journal nats://HOST:PORT,HOST:PORT/MESH`: which servers, and which of their logs. Credentials do not stand in an
// address, because addresses stand in logs and process lists.

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?$/;
const DEFAULT_PORT = 4222;
/**
 * Replicas of the stream that is the log: it survives the loss of one server. Here, so that the flags of a server that
 * is no replica load nothing of NATS.
 */
export const STREAM_REPLICAS = 3;

export interface NatsAddress {
  /** `host:port` of NATS servers, at least one. */
  readonly servers: readonly string[];
  /** Connections are refused that are not encrypted. */
  readonly isTls: boolean;
  readonly mesh: string;
}

export function isNatsAddress(text: string): boolean {
  return /^(nats|tls):\/\//.test(text);
}

/** A string says what was expected. */
export function parseNatsAddress(text: string): NatsAddress | string {
  const found = /^(nats|tls):\/\/([^/]+)(?:\/(.*))?$/.exec(text);
  const expected = 'expected nats://HOST:PORT,HOST:PORT/MESH, or tls:// to refuse unencrypted connections';
  if (found === null) return expected;
  const [, scheme, hosts = '', mesh = ''] = found;
  if (hosts.includes('@'))
    return 'credentials do not belong into the address: name their file in --journal-credentials';
  const servers = hosts.split(',');
  const odd = servers.find(server => !HOST.test(server));
  if (odd !== undefined) return `${odd || 'an empty name'} is no HOST:PORT; ${expected}`;
  if (!NAME.test(mesh))
    return `the name of the mesh, ${JSON.stringify(mesh)}, is not 1 to 64 of A-Z a-z 0-9 - _; ${expected}`;
  return {
    servers: servers.map(server => (/:[0-9]+$/.test(server) ? server : `${server}:${DEFAULT_PORT}`)),
    isTls: scheme === 'tls',
    mesh,
  };
}

export function showNatsAddress({ servers, isTls, mesh }: NatsAddress): string {
  return `${isTls ? 'tls' : 'nats'}://${servers.join(',')}/${mesh}`;
}
