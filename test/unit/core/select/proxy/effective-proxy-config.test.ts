// The golden cases of proxy-config-cases.yaml: objects and an annotation in, the effective ProxyConfig out.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Obj } from '../../../../../src/core/model/object.ts';
import type { ProxyConfig } from '../../../../../src/core/schema/istio-types.gen.ts';
import {
  effectiveProxyConfig,
  type ProxyConfigLevels,
} from '../../../../../src/core/select/proxy/effective-proxy-config.ts';
import { world } from '../../../world.ts';

interface Case {
  readonly case: string;
  readonly mesh?: JsonObject;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotation?: string;
  readonly objects?: readonly {
    readonly name: string;
    readonly namespace: string;
    readonly at?: number;
    readonly spec: JsonObject;
  }[];
  readonly expected: JsonObject;
}

const cases = parse(readFileSync(join(import.meta.dirname, 'proxy-config-cases.yaml'), 'utf8')) as readonly Case[];
const builtIn = world([]).mesh.effective.defaultConfig;

function levelsOf({ mesh = {}, objects = [] }: Case): ProxyConfigLevels {
  const parts = objects.map(({ name, namespace, at = 1, spec }) => ({
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'ProxyConfig',
    metadata: { name, namespace, creationTimestamp: `2026-01-0${at}T00:00:00Z` },
    spec,
  }));
  const state = world(parts, { mesh: { defaultConfig: mesh } });
  const { defaultConfig, rootNamespace } = state.mesh.effective;
  return {
    mesh: defaultConfig,
    rootNamespace,
    objects: [...state.objects.ProxyConfig.values()] as readonly Obj<'ProxyConfig'>[],
  };
}

function ofCase(given: Case, levels: ProxyConfigLevels): ProxyConfig {
  const { namespace = 'shop', labels = { app: 'web' }, annotation } = given;
  return effectiveProxyConfig(levels, { namespace, labels, ...(annotation === undefined ? {} : { annotation }) });
}

describe('the effective ProxyConfig', () => {
  it.each(cases.map(given => [given.case, given] as const))('is that of the golden case: %s', (_, given) => {
    expect(ofCase(given, levelsOf(given))).toEqual({ ...builtIn, ...given.expected });
  });

  it('does not depend on the order of the objects', () => {
    for (const given of cases) {
      const levels = levelsOf(given);
      const reversed = { ...levels, objects: [...levels.objects].reverse() };
      expect(ofCase(given, reversed)).toEqual(ofCase(given, levels));
    }
  });
});
