// The start settings of the process that affect generated configuration. It is a fact of the journal (`Engine`), so
// that a replay on another machine uses the recorded flags and never its own environment. Names and defaults of flags
// and environment variables: istiod's (pilot/cmd/pilot-discovery, pilot/pkg/features).

import { isObject, type Json, type JsonObject } from '../base/json.ts';

export interface Settings {
  /** `--domain` */
  readonly domainSuffix: string;
  /** `--clusterID` */
  readonly clusterId: string;
  /** `--namespace`: where the control plane runs. */
  readonly systemNamespace: string;
  /** `REVISION`: objects labelled `istio.io/rev` with another value are not ours. */
  readonly revision: string;
  /** `--clusterAliases`: alias → cluster; a proxy whose metadata names the alias is in the cluster. */
  readonly clusterAliases: Readonly<Record<string, string>>;
  /** Environment variables that are feature flags, as given. Defaults are in features.ts. */
  readonly env: Readonly<Record<string, string>>;
}

export const defaultSettings: Settings = {
  domainSuffix: 'cluster.local',
  clusterId: 'Kubernetes',
  systemNamespace: 'istio-system',
  revision: '',
  clusterAliases: {},
  env: {},
};

/** Aliases are left out when there are none: journals that knew nothing of them say the same. */
export function settingsToJson(settings: Settings): JsonObject {
  const { clusterAliases, ...rest } = settings;
  return Object.keys(clusterAliases).length === 0 ? rest : { ...rest, clusterAliases };
}

/** Total: a value that is absent or of another type keeps its default, so journals of older releases still fold. */
export function settingsFromJson(json: JsonObject): Settings {
  const text = (value: Json | undefined, fallback: string): string => (typeof value === 'string' ? value : fallback);
  return {
    domainSuffix: text(json.domainSuffix, defaultSettings.domainSuffix),
    clusterId: text(json.clusterId, defaultSettings.clusterId),
    systemNamespace: text(json.systemNamespace, defaultSettings.systemNamespace),
    revision: text(json.revision, defaultSettings.revision),
    clusterAliases: textsOf(json.clusterAliases),
    env: textsOf(json.env),
  };
}

function textsOf(json: Json | undefined): Readonly<Record<string, string>> {
  const members = isObject(json) ? Object.entries(json) : [];
  return Object.fromEntries(members.filter((member): member is [string, string] => typeof member[1] === 'string'));
}
