// What the process was started with, as far as it changes generated configuration. It is a fact of the journal (`Engine`), so
// that a replay on another machine uses the recorded flags and never its own environment.
// Names and defaults of flags and environment variables: istiod's (pilot/cmd/pilot-discovery, pilot/pkg/features).

import { isObject, type Json, type JsonObject } from './json.ts';

export interface Settings {
  /** `--domain` */
  readonly domainSuffix: string;
  /** `--clusterID` */
  readonly clusterId: string;
  /** `--namespace`: where the control plane runs. */
  readonly systemNamespace: string;
  /** `REVISION`: objects labelled `istio.io/rev` with another value are not ours. */
  readonly revision: string;
  /** Environment variables that are feature flags, as given. Defaults are in features.ts. */
  readonly env: Readonly<Record<string, string>>;
}

export const defaultSettings: Settings = {
  domainSuffix: 'cluster.local',
  clusterId: 'Kubernetes',
  systemNamespace: 'istio-system',
  revision: '',
  env: {},
};

export function settingsToJson(settings: Settings): JsonObject {
  return { ...settings };
}

/** Total: what is absent or of another type keeps its default, so that journals of older releases still fold. */
export function settingsFromJson(json: JsonObject): Settings {
  const text = (value: Json | undefined, fallback: string): string => (typeof value === 'string' ? value : fallback);
  const env: Record<string, string> = {};
  if (isObject(json.env)) {
    for (const [name, value] of Object.entries(json.env)) if (typeof value === 'string') env[name] = value;
  }
  return {
    domainSuffix: text(json.domainSuffix, defaultSettings.domainSuffix),
    clusterId: text(json.clusterId, defaultSettings.clusterId),
    systemNamespace: text(json.systemNamespace, defaultSettings.systemNamespace),
    revision: text(json.revision, defaultSettings.revision),
    env,
  };
}
