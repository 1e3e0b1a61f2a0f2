// Limits of a session with a ZooKeeper ensemble and of what is read from it.

/** The session's timeout that is asked for; the server answers with its own. */
export const SESSION_MS = 15_000;
/** Time for a TCP and TLS connection, and the answer to its first packet. */
export const CONNECT_MS_MAX = 5_000;
/** Bytes of one packet; a server sends 1 MiB unless its `jute.maxbuffer` says otherwise. */
export const PACKET_BYTES_MAX = 16 * 1024 * 1024;
/** Between two attempts to connect; doubles while they fail. */
export const RETRY_MS_MIN = 500;
export const RETRY_MS_MAX = 30_000;
/** Folders of services that are watched; the first by name are. */
export const SERVICES_MAX = 5_000;
/** Instances of one service; the first by name are read. */
export const INSTANCES_MAX = 10_000;
/** Requests of the adapter that are under way at once. */
export const REQUESTS_MAX = 32;
