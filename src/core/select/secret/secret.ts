// Inputs of a Secret that the control plane serves: the credential, and who does the operations with its private key.
// Source: Istio pilot/pkg/xds/sds.go (SecretGen.generate).

import type { JsonObject } from '../../base/json.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { privateKeyProvider } from '../proxy/proxy-config.ts';
import { type Credential, credential } from './credentials.ts';

export type SecretInputs = Credential & {
  readonly name: string;
  /** ProxyConfig.privateKeyProvider; empty without one and for root certificates. */
  readonly provider: JsonObject;
};

const NO_PROVIDER: JsonObject = {};

/** Undefined: there is no such credential, or the proxy may not read it; nothing tells the two apart. */
export function selectSecret(reader: ProxyReader, name: string): SecretInputs | undefined {
  const found = reader.get(credential, name);
  if (found === undefined) return undefined;
  const provider = found.kind === 'certificate' ? reader.derived(privateKeyProvider) : NO_PROVIDER;
  return { name, provider, ...found };
}
