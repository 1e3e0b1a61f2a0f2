import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { SHOP, shopRoutes, shopScene } from './scene.ts';

const TO = { route: [{ destination: { host: 'shop' } }] };
const SECONDS = { seconds: 5, nanos: 0 };
const HUNDRED = { numerator: 7 };
const MILLION = { numerator: 75_000, denominator: 2 };

describe('the fault of a route', () => {
  it.each<[JsonObject, object]>([
    [{ delay: { fixedDelay: '5s' } }, { delay: { fixedDelay: SECONDS, percentage: {} } }],
    [{ delay: { fixedDelay: '5s', percent: 7 } }, { delay: { fixedDelay: SECONDS, percentage: HUNDRED } }],
    [
      { delay: { fixedDelay: '5s', percentage: { value: 7.5 } } },
      { delay: { fixedDelay: SECONDS, percentage: MILLION } },
    ],
    [{ abort: { httpStatus: 503, percentage: { value: 7.5 } } }, { abort: { httpStatus: 503, percentage: MILLION } }],
    [{ abort: { httpStatus: 503 } }, { abort: { httpStatus: 503 } }],
    [{ abort: { grpcStatus: 'UNAVAILABLE' } }, { abort: { grpcStatus: 14 } }],
  ])('%j is translated, and what it leaves out is left out', (fault, expected) => {
    const configs = shopRoutes({ ...TO, fault })[0]?.typedPerFilterConfig ?? {};
    const { '@type': _type, ...config } = configs['envoy.filters.http.fault'] ?? {};
    expect(config).toEqual(expected);
  });
});

describe('a route configuration', () => {
  it('does not make Envoy look for its clusters, since they may come later', () => {
    const made = shopScene([TO]);
    expect(made.route('client', '8080').validateClusters).toEqual({ value: false });
    expect(made.host('client', '8080', SHOP).typedPerFilterConfig).toBeUndefined();
  });
});
