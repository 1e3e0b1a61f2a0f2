// Secrets by SDS name: selects the credential and makes the Secret. A credential that is missing or forbidden has none.
// Source: Istio pilot/pkg/xds/sds.go (SecretGen.Generate).

import type { Resource } from '../../../core/model/resource.ts';
import type { Query } from '../../../core/query/reader.ts';
import { selectSecret } from '../../../core/select/secret/secret.ts';
import { secret } from '../../generate/secret/secret.ts';
import type { Secret } from '../../proto/types.gen.ts';

/** Argument: an SDS name, e.g. `kubernetes://my-cert-cacert`. */
export const secretNamed: Query<string, Resource<Secret> | undefined> = {
  name: 'secret/secretNamed',
  run: (reader, name) => {
    const inputs = selectSecret(reader, name);
    return inputs === undefined ? undefined : reader.make(secret, inputs);
  },
};
