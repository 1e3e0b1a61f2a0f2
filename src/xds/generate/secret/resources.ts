// Secrets that the control plane serves over ADS. A secret that does not exist, or that the proxy may not read, is absent, and nothing tells
// the two apart.
// Source: Istio pilot/pkg/xds/sds.go (toEnvoyTLSSecret, toEnvoyCaSecret).

import { bytesOfBase64 } from '../../../core/base/base64.ts';
import { isObject, type JsonObject } from '../../../core/base/json.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { Query } from '../../../core/query/reader.ts';
import { privateKeyProvider } from '../../../core/select/proxy/proxy-config.ts';
import { type Credential, credential } from '../../../core/select/secret/credentials.ts';
import { any } from '../../proto/any.ts';
import type { AnyMessage, DataSource, PrivateKeyProvider, Secret } from '../../proto/types.gen.ts';
import { durationOf } from '../common/duration.ts';

/** Argument: an SDS name, e.g. `kubernetes://my-cert-cacert`. */
export const secretNamed: Query<string, Resource<Secret> | undefined> = {
  name: 'secret/secretNamed',
  run: (reader, name) => {
    const found = reader.get(credential, name);
    if (found === undefined) return undefined;
    const provider = found.kind === 'certificate' ? reader.derived(privateKeyProvider) : NO_PROVIDER;
    return reader.make(secret, { name, provider, ...found });
  },
};

const NO_PROVIDER: JsonObject = {};

type SecretInputs = Credential & { readonly name: string; readonly provider: JsonObject };

const secret: Generator<SecretInputs, Resource<Secret>> = {
  name: 'secret/secret',
  run: inputs => ({ name: inputs.name, message: { name: inputs.name, ...contents(inputs) }, problems: [] }),
};

function contents(found: SecretInputs): Secret {
  if (found.kind === 'roots') {
    const { roots, revoked } = found;
    return {
      validationContext: { trustedCa: inline(roots), ...(revoked === undefined ? {} : { crl: inline(revoked) }) },
    };
  }
  const { chain, key, staple } = found;
  const privateKeyProvider = providerOf(found.provider, inline(key));
  if (privateKeyProvider !== undefined)
    return { tlsCertificate: { certificateChain: inline(chain), privateKeyProvider } };
  return {
    tlsCertificate: {
      certificateChain: inline(chain),
      privateKey: inline(key),
      ...(staple === undefined ? {} : { ocspStaple: inline(staple) }),
    },
  };
}

/** Hardware or CPU extensions that do the private key operations, if the proxy's configuration names one. */
function providerOf({ cryptomb, qat }: JsonObject, privateKey: DataSource): PrivateKeyProvider | undefined {
  if (isObject(cryptomb)) {
    const config = { privateKey, pollDelay: durationOf(cryptomb.pollDelay) };
    return provider('cryptomb', cryptomb, any(`${PROVIDERS}.cryptomb.v3alpha.CryptoMbPrivateKeyMethodConfig`, config));
  }
  if (isObject(qat)) {
    const config = { privateKey, pollDelay: durationOf(qat.pollDelay) };
    return provider('qat', qat, any(`${PROVIDERS}.qat.v3alpha.QatPrivateKeyMethodConfig`, config));
  }
  return undefined;
}

const PROVIDERS = 'envoy.extensions.private_key_providers';

function provider(providerName: string, { fallback }: JsonObject, typedConfig: AnyMessage): PrivateKeyProvider {
  return { providerName, typedConfig, ...(fallback === true ? { fallback } : {}) };
}

function inline(base64: string): DataSource {
  return { inlineBytes: bytesOfBase64(base64) };
}
