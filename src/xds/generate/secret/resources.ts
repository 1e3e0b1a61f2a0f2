// Secrets that the control plane serves over ADS. A secret that does not exist, or that the proxy may not read, is absent, and nothing tells
// the two apart.
// Source: Istio pilot/pkg/xds/sds.go (toEnvoyTLSSecret, toEnvoyCaSecret).

import { bytesOfBase64 } from '../../../core/kinds/base64.ts';
import type { Generator } from '../../../core/memo.ts';
import type { Query } from '../../../core/reader.ts';
import type { Resource } from '../../../core/resource.ts';
import { type Credential, credential } from '../../../core/select/credentials.ts';
import type { DataSource, Secret } from '../../proto/types.gen.ts';

/** Argument: an SDS name, e.g. `kubernetes://my-cert-cacert`. */
export const secretNamed: Query<string, Resource<Secret> | undefined> = {
  name: 'secret/secretNamed',
  run: (reader, name) => {
    const found = reader.get(credential, name);
    return found === undefined ? undefined : reader.make(secret, { name, ...found });
  },
};

const secret: Generator<Credential & { readonly name: string }, Resource<Secret>> = {
  name: 'secret/secret',
  run: inputs => ({ name: inputs.name, message: { name: inputs.name, ...contents(inputs) }, problems: [] }),
};

function contents(found: Credential): Secret {
  if (found.kind === 'roots') {
    const { roots, revoked } = found;
    return {
      validationContext: { trustedCa: inline(roots), ...(revoked === undefined ? {} : { crl: inline(revoked) }) },
    };
  }
  const { chain, key, staple } = found;
  return {
    tlsCertificate: {
      certificateChain: inline(chain),
      privateKey: inline(key),
      ...(staple === undefined ? {} : { ocspStaple: inline(staple) }),
    },
  };
}

function inline(base64: string): DataSource {
  return { inlineBytes: bytesOfBase64(base64) };
}
