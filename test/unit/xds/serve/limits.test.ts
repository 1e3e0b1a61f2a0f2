// Limits by istiod's names and with its defaults (pilot/pkg/features/tuning.go, pilot/pkg/bootstrap).

import { describe, expect, it } from 'vitest';
import { scheduleSettings } from '../../../../src/xds/push/settings.ts';
import { defaultXdsLimits, xdsLimits } from '../../../../src/xds/serve/limits.ts';

describe('limits of the server', () => {
  it("have istiod's defaults", () => {
    const limits = xdsLimits({});
    expect(limits).toEqual(defaultXdsLimits);
    expect(limits).toMatchObject({
      streamsMax: 100_000,
      connectionStreamsMax: 100,
      requestBytesMax: 4 * 1024 * 1024,
      keepaliveMs: 30_000,
      keepaliveTimeoutMs: 10_000,
      connectionAgeMsMax: undefined,
    });
  });

  it("follow istiod's environment variables if these can be parsed", () => {
    const env = {
      ISTIO_GPRC_MAXSTREAMS: '7',
      ISTIO_GPRC_MAXRECVMSGSIZE: '1024',
      PILOT_MAX_REQUESTS_PER_SECOND: '3.5',
      GRPC_KEEPALIVE_INTERVAL: '1m',
      GRPC_KEEPALIVE_TIMEOUT: '500ms',
      PILOT_XDS_SEND_TIMEOUT: '20s',
    };
    expect(xdsLimits(env)).toMatchObject({
      streamsMax: 7,
      connectionStreamsMax: 7,
      requestBytesMax: 1024,
      newStreamsPerSecond: 3.5,
      keepaliveMs: 60_000,
      keepaliveTimeoutMs: 500,
      sendTimeoutMs: 20_000,
    });
    expect(xdsLimits({ PILOT_XDS_SEND_TIMEOUT: '0s' }).sendTimeoutMs).toBeUndefined();
    const nonsense = Object.fromEntries(Object.keys(env).map(name => [name, 'many']));
    expect(xdsLimits(nonsense)).toEqual(xdsLimits({}));
    // istiod's default is 0: as many as the machine allows.
    expect(xdsLimits({ PILOT_MAX_REQUESTS_PER_SECOND: '0' }).newStreamsPerSecond).toBeUndefined();
  });

  it('of the push schedule follow them too', () => {
    expect(scheduleSettings({})).toMatchObject({ debounceAfterMs: 100, debounceMaxMs: 10_000, endpointDebounce: true });
    const env = {
      PILOT_DEBOUNCE_AFTER: '20ms',
      PILOT_DEBOUNCE_MAX: '2s',
      PILOT_ENABLE_EDS_DEBOUNCE: 'false',
      PILOT_PUSH_THROTTLE: '5',
    };
    const said = { debounceAfterMs: 20, debounceMaxMs: 2_000, endpointDebounce: false, windowSize: 5 };
    expect(scheduleSettings(env)).toMatchObject(said);
    expect(scheduleSettings({ PILOT_PUSH_THROTTLE: '0' })).toEqual(scheduleSettings({}));
  });
});
