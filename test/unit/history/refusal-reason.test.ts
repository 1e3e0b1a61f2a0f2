// Envoy's reason for refusing a response, out of each known shape of its messages.

import { describe, expect, it } from 'vitest';
import { refusalReason } from '../../../src/history/refusal-reason.ts';

const REASON =
  'Proto constraint validation failed (ClusterValidationError.OutlierDetection: embedded message failed validation)';

describe('the reason of a refusal', () => {
  it('is found behind the resource that Envoy prints', () => {
    const printed = `goo.gle/debugproto  \nname: "outbound|80||a.b"\ntype: EDS\nouter {\n  percent {\n    value: 500\n  }\n}\n`;
    expect(refusalReason(`${printed}: ${REASON}`)).toBe(REASON);
  });

  it('keeps the reason of each of several resources', () => {
    const message = `Error adding/updating cluster(s) a: ${REASON}\nname: "a"\n, b: malformed IP address: no`;
    expect(refusalReason(message)).toBe(`Error adding/updating cluster(s) a: ${REASON} , b: malformed IP address: no`);
  });

  it.each([
    "Error adding/updating listener(s) 0.0.0.0_80: Didn't find a registered implementation for name: 'x'",
    'Unable to parse JSON as proto (INVALID_ARGUMENT: unknown name "x")',
    'name: "only printed"',
  ])('is the whole message where nothing else is printed: %s', message => {
    expect(refusalReason(` ${message}\n`)).toBe(message);
  });
});
