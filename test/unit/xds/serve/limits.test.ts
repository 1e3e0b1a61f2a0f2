// Limits by istiod's names and with its defaults (pilot/pkg/features/tuning.go, pilot/pkg/bootstrap), and what a gate
// for new streams does.

import { describe, expect, it } from 'vitest';
import { scheduleSettings } from '../../../../src/xds/push/settings.ts';
import { AdmissionGate } from '../../../../src/xds/serve/admission-gate.ts';
import { defaultXdsLimits, xdsLimits } from '../../../../src/xds/serve/limits.ts';

describe('limits', () => {
  it("have istiod's defaults", () => {
    const limits = xdsLimits({}, 2);
    expect(limits).toEqual({ ...defaultXdsLimits, newStreamsPerSecond: 25 });
    expect(limits).toMatchObject({
      streamsMax: 100_000,
      requestBytesMax: 4 * 1024 * 1024,
      keepaliveMs: 30_000,
      keepaliveTimeoutMs: 10_000,
      connectionAgeMsMax: undefined,
    });
    expect([1, 4, 17, 64].map(cpus => xdsLimits({}, cpus).newStreamsPerSecond)).toEqual([20, 35, 100, 100]);
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
    expect(xdsLimits(env, 2)).toMatchObject({
      streamsMax: 7,
      requestBytesMax: 1024,
      newStreamsPerSecond: 3.5,
      keepaliveMs: 60_000,
      keepaliveTimeoutMs: 500,
      sendTimeoutMs: 20_000,
    });
    expect(xdsLimits({ PILOT_XDS_SEND_TIMEOUT: '0s' }, 2).sendTimeoutMs).toBeUndefined();
    const nonsense = Object.fromEntries(Object.keys(env).map(name => [name, 'many']));
    expect(xdsLimits(nonsense, 2)).toEqual(xdsLimits({}, 2));
    // istiod's default is 0: as many as the processors allow.
    expect(xdsLimits({ PILOT_MAX_REQUESTS_PER_SECOND: '0' }, 2).newStreamsPerSecond).toBe(25);
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

describe('the admission gate', () => {
  it('admits one batch at once, the others at later batch boundaries, and refuses a wait that is too long', () => {
    const gate = new AdmissionGate(10, 600);
    const enter = (...times: readonly number[]) => times.map(now => gate.admit(now));
    expect(enter(1_000, 1_000, 1_000, 1_000, 1_000, 1_000)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(enter(1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000)).toEqual([500, 500, 500, 500, 500, 1_000, undefined]);
    expect(enter(1_160, 1_160)).toEqual([840, undefined]);
    expect(enter(10_000, 10_007, 10_050, 10_051, 10_052, 10_053, 10_054)).toEqual([0, 0, 0, 0, 0, 0, 446]);
  });

  it('never exceeds its rate', () => {
    const gate = new AdmissionGate(25, 60_000);
    const turns = new Map<number, number>();
    for (let stream = 0; stream < 400; stream++) {
      const now = stream * 3;
      const at = now + gate.admit(now)!;
      turns.set(at, (turns.get(at) ?? 0) + 1);
    }
    expect(Math.max(...turns.values())).toBe(13);
    expect(Math.max(...turns.keys())).toBe(15_500);
  });

  it('admits a single stream without a wait', () => {
    const gate = new AdmissionGate(25, 60_000);
    for (let now = 0; now < 60_000; now += 1_000) expect(gate.admit(now)).toBe(0);
  });
});
