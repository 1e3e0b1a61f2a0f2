// Providers of Telemetries: access logging without one, and tracing by Lightstep, which is deprecated.
// Source: Istio pkg/config/analysis/analyzers/telemetry/providers.go, lightstep.go.

import type { Analyzer } from '../analyzer.ts';
import { deprecated } from '../ist-0001-0145.ts';
import { invalidTelemetryProvider } from '../ist-0146-0176.ts';

export const telemetryProviders: Analyzer = {
  name: 'telemetry.ProviderAnalyzer',
  description: 'Validates that providers in telemetry resource is valid',
  needs: ['Telemetry'],
  analyze: (objects, report) => {
    if ((objects.mesh.defaultProviders.accessLogging ?? []).length > 0) return;
    for (const item of objects.all('Telemetry')) {
      (item.spec.accessLogging ?? []).forEach(({ disabled, providers = [] }, i) => {
        if (disabled === true || providers.length > 0) return;
        report(item, invalidTelemetryProvider(item.name, item.namespace), `spec.accessLogging[${i}]`);
      });
    }
  },
};

export const telemetryLightstep: Analyzer = {
  name: 'telemetry.LightstepAnalyzer',
  description: 'Validates that lightstep provider is still used',
  needs: ['Telemetry'],
  analyze: (objects, report) => {
    const lightstep = new Set(
      objects.mesh.extensionProviders.filter(provider => provider.lightstep !== undefined).map(({ name }) => name),
    );
    for (const item of objects.all('Telemetry')) {
      (item.spec.tracing ?? []).forEach(({ providers = [] }, i) => {
        providers.forEach(({ name = '' }, j) => {
          if (!lightstep.has(name)) return;
          const text = `The Lightstep provider ${name} is deprecated, please migrate to OpenTelemetry provider.`;
          report(item, deprecated(text), `spec.tracing[${i}].providers[${j}].name`);
        });
      });
    }
  },
};
