// The inputs of an extension configuration (ECDS) by the name of its filter.
//
// A name is answered if its namespace is the proxy's or the root namespace, whether or not the extension selects the
// proxy: the listener that asks for it may be an older one. Its pull secret is another matter (pull-secret.ts). Lua
// code stands in the listener and has no configuration of its own.
// Source: Istio pilot/pkg/xds/ecds.go, pilot/pkg/networking/core/extension (InsertedExtensionConfigurations).

import { canonicalJson, type JsonObject } from '../../base/json.ts';
import type { ProxyReader } from '../../query/reader.ts';
import type { FailStrategy, WasmConfig } from '../../schema/istio-types.gen.ts';
import { subjectsOf } from '../ambient/subjects.ts';
import { namespaceOf } from '../policy/attachment.ts';
import { type Extension, extensionNamed, filterNameOf, parseFilterName, type WasmCode } from './extensions.ts';
import { pullSecretText } from './pull-secret.ts';
import { hasAgent, type ModuleCode, moduleCode } from './wasm-module.ts';

export interface ExtensionConfigInputs {
  readonly filterName: string;
  /** `namespace.name` */
  readonly moduleName: string;
  readonly rootId: string;
  readonly network: boolean;
  /** As JSON; undefined: none. */
  readonly configuration: string | undefined;
  readonly failStrategy: FailStrategy;
  readonly code: ModuleCode;
  /** `name`, `value`, `name`, …; sorted by name. */
  readonly environment: readonly string[];
  /** Names of variables that the proxy takes from its own environment. */
  readonly hostEnvironment: readonly string[];
}

/** Variables that tell the agent how to fetch the module; it takes them away. */
const AGENT_VARIABLES = 'ISTIO_META_';
export const PULL_SECRET_VARIABLE = 'ISTIO_META_WASM_IMAGE_PULL_SECRET';
const PULL_POLICY_VARIABLE = 'ISTIO_META_WASM_IMAGE_PULL_POLICY';
const VERSION_VARIABLE = 'ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION';

/** Undefined: there is no such extension, the proxy may not ask for it, or it needs no configuration. */
export function selectExtensionConfig(reader: ProxyReader, filterName: string): ExtensionConfigInputs | undefined {
  const named = parseFilterName(filterName);
  if (named === undefined || !mayAsk(reader, named.namespace)) return undefined;
  const extension = extensionNamed(reader, named);
  return extension?.code.kind === 'wasm' ? moduleConfig(reader, extension, extension.code) : undefined;
}

export function moduleConfig(reader: ProxyReader, extension: Extension, code: WasmCode): ExtensionConfigInputs {
  const { network, config } = code;
  const { env = [] } = config.vmConfig ?? {};
  return {
    filterName: filterNameOf(extension),
    moduleName: `${extension.namespace}.${extension.name}`,
    rootId: config.pluginName ?? '',
    network,
    configuration: goJson(config.pluginConfig),
    failStrategy: config.failStrategy ?? 'FAIL_CLOSE',
    code: moduleCode(reader, network, config),
    environment: environmentOf(reader, extension, config),
    hostEnvironment: env.filter(({ valueFrom }) => valueFrom === 'HOST').map(({ name = '' }) => name),
  };
}

function mayAsk(reader: ProxyReader, namespace: string): boolean {
  if (namespace === reader.facet('namespace') || namespace === reader.mesh('rootNamespace')) return true;
  return subjectsOf(reader).some(subject => namespaceOf(subject) === namespace);
}

/** The author's own variables win over those for the agent; without an agent there are none of the latter. */
function environmentOf(reader: ProxyReader, extension: Extension, config: WasmConfig): readonly string[] {
  const variables = new Map<string, string>();
  const agent = hasAgent(reader);
  const secret = agent ? pullSecretText(reader, extension, config.imagePullSecret ?? '') : undefined;
  if (secret !== undefined) variables.set(PULL_SECRET_VARIABLE, secret);
  const policy = config.imagePullPolicy ?? 'UNSPECIFIED_POLICY';
  if (policy !== 'UNSPECIFIED_POLICY') variables.set(PULL_POLICY_VARIABLE, policy);
  variables.set(VERSION_VARIABLE, extension.resourceVersion);
  for (const { name = '', value = '', valueFrom = 'INLINE' } of config.vmConfig?.env ?? []) {
    // What an author writes there is the name of a Secret to Istio, and of none that the proxy may read.
    if (valueFrom === 'INLINE') variables.set(name, name === PULL_SECRET_VARIABLE ? '' : value);
  }
  return [...variables]
    .filter(([name]) => agent || !name.startsWith(AGENT_VARIABLES))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flat();
}

/** As Go's encoding/json writes a Struct: keys sorted, and characters escaped that mean something in HTML. */
function goJson(config: JsonObject | undefined): string | undefined {
  if (config === undefined || Object.keys(config).length === 0) return undefined;
  return canonicalJson(config).replace(
    HTML,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const HTML = /[<>&\u2028\u2029]/g;
