// Every limit of the xDS server (docs/serving.md), with istiod's name and default where it has one (pilot/pkg/features,
// pilot/pkg/bootstrap).

import { durationMs } from '../../core/mesh/features.ts';

export interface XdsLimits {
  /** ISTIO_GPRC_MAXSTREAMS (sic): streams of the whole server. */
  readonly streamsMax: number;
  /**
   * Open streams of one HTTP/2 connection; clients of gRPC keep further ones back. ISTIO_GPRC_MAXSTREAMS if it is set.
   * Istio: 100,000, which one packet after the other makes a second's work. A proxy has one.
   */
  readonly connectionStreamsMax: number;
  /** ISTIO_GPRC_MAXRECVMSGSIZE: bytes of one request. */
  readonly requestBytesMax: number;
  /** PILOT_MAX_REQUESTS_PER_SECOND: new streams; undefined: as many as the machine can serve (admission-gate.ts). */
  readonly newStreamsPerSecond: number | undefined;
  /**
   * How long a new stream waits at the admission gate before it is refused. Istio: 1 s. Refusing costs more than
   * waiting, since a refused proxy reconnects at once. As long may a stream take to say anything.
   */
  readonly newStreamWaitMs: number;
  /** GRPC_KEEPALIVE_INTERVAL, GRPC_KEEPALIVE_TIMEOUT; `--keepaliveInterval` and `--keepaliveTimeout` come first. */
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  /** `--keepaliveMaxServerConnectionAge`; undefined: unlimited. */
  readonly connectionAgeMsMax: number | undefined;
  readonly connectionAgeGraceMs: number;
  /** Responses being written at the same time over all streams, and their bytes (a single response may be larger). */
  readonly writesMax: number;
  readonly writeBytesMax: number;
  /** A response being written gives up its slot in the window after this time: a slow reader delays only itself. */
  readonly writeSlotMs: number;
  /**
   * PILOT_XDS_SEND_TIMEOUT: a stream whose client does not take a response in this time is ended; undefined: only
   * keepalive ends it.
   */
  readonly sendTimeoutMs: number | undefined;
  /** Requests of one stream that wait to be handled; past that the stream is not read any further. */
  readonly waitingRequestsMax: number;
}

export const defaultXdsLimits: XdsLimits = {
  streamsMax: 100_000,
  connectionStreamsMax: 100,
  requestBytesMax: 4 * 1024 * 1024,
  newStreamsPerSecond: undefined,
  newStreamWaitMs: 60_000,
  keepaliveMs: 30_000,
  keepaliveTimeoutMs: 10_000,
  connectionAgeMsMax: undefined,
  connectionAgeGraceMs: 10_000,
  writesMax: 1_024,
  writeBytesMax: 32 * 1024 * 1024,
  writeSlotMs: 5_000,
  sendTimeoutMs: undefined,
  waitingRequestsMax: 256,
};

/** A value that cannot be parsed counts as not set. */
export function xdsLimits(env: Readonly<Record<string, string | undefined>>): XdsLimits {
  const defaults = defaultXdsLimits;
  const positive = (name: string, fallback: number): number => {
    const value = Number(env[name] ?? '');
    return Number.isFinite(value) && value > 0 ? value : fallback;
  };
  return {
    ...defaults,
    streamsMax: positive('ISTIO_GPRC_MAXSTREAMS', defaults.streamsMax),
    connectionStreamsMax: positive('ISTIO_GPRC_MAXSTREAMS', defaults.connectionStreamsMax),
    requestBytesMax: positive('ISTIO_GPRC_MAXRECVMSGSIZE', defaults.requestBytesMax),
    // 0 is istiod's default, and means no limit.
    newStreamsPerSecond: positive('PILOT_MAX_REQUESTS_PER_SECOND', 0) || undefined,
    keepaliveMs: durationMs(env.GRPC_KEEPALIVE_INTERVAL ?? '') ?? defaults.keepaliveMs,
    keepaliveTimeoutMs: durationMs(env.GRPC_KEEPALIVE_TIMEOUT ?? '') ?? defaults.keepaliveTimeoutMs,
    // 0 disables it, as in istiod.
    sendTimeoutMs: durationMs(env.PILOT_XDS_SEND_TIMEOUT ?? '') || defaults.sendTimeoutMs,
  };
}
