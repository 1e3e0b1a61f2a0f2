// jwksDocumentHandler: an issuer answered with other keys. Istio pushes everything, without a key
// (pilot/pkg/model/jwks_resolver.go, pushFunc); only proxies whose listeners carry the keys are sent anything.

import { type PushRequest, pushRequest } from '../push-request.ts';
import type { Change } from './change.ts';

export function jwksDocumentHandler(change: Change): PushRequest {
  return pushRequest(change.seq, 'unknown', [], { full: true, forced: true });
}
