// Secrets that the control plane serves over ADS, from credentials that the proxy may read. Keys are named by a private
// key provider where the proxy's configuration has one.
// Source: Istio pilot/pkg/xds/sds.go (toEnvoyTLSSecret, toEnvoyCaSecret).

import { bytesOfBase64 } from '../../../core/base/base64.ts';
import { isObject, type JsonObject } from '../../../core/base/json.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { SecretInputs } from '../../../core/select/secret/secret.ts';
import { any } from '../../proto/any.ts';
import type { AnyMessage, DataSource, PrivateKeyProvider, Secret } from '../../proto/types.gen.ts';
import { durationOf } from '../common/duration.ts';

export const secret: Generator<SecretInputs, Resource<Secret>> = {
  name: 'secret/secret',
  run: inputs => ({ name: inputs.name, message: { name: inputs.name, ...contents(inputs) }, problems: [] }),
};

/** Stands in place of a key that is no part of state; the fingerprint of its certificate follows. */
export const KEY_PLACEHOLDER = 'periplus:key-of:';

function contents(found: SecretInputs): Secret {
  if (found.kind === 'workload') {
    const { chain, fingerprint } = found;
    const privateKey = { inlineString: `${KEY_PLACEHOLDER}${fingerprint}` };
    return { tlsCertificate: { certificateChain: inline(chain), privateKey } };
  }
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
