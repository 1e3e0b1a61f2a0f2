// The external authorization filters: the call of the authorizer, and the effect of its answer. The connection contains
// the authorizer's answer; without one the outcome is unknown, because the oracle models no authorizer.

import type { HttpExtAuthz, NetworkExtAuthz } from '../xds/proto/types.gen.ts';
import type { AuthorizerAnswer } from './question.ts';
import type { Subject } from './subject.ts';
import { matchesMetadata } from './value-matcher.ts';

const FORBIDDEN = 403;

export type Asked =
  | { readonly kind: 'not asked' }
  | { readonly kind: 'passes'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'refused'; readonly status: number; readonly why: string };

export function askAuthorizer(
  config: HttpExtAuthz | NetworkExtAuthz,
  subject: Subject,
  answer: AuthorizerAnswer | undefined,
): Asked {
  const condition = config.filterEnabledMetadata;
  if (condition !== undefined && !matchesMetadata(condition, subject.metadata)) return { kind: 'not asked' };
  const name = authorizerOf(config);
  switch (answer) {
    case 'allows':
      return { kind: 'passes', why: `${name} is asked and allows it` };
    case 'denies':
      return { kind: 'refused', status: FORBIDDEN, why: `${name} is asked and denies it` };
    case 'fails': {
      if (config.failureModeAllow === true) return { kind: 'passes', why: `${name} fails, and the filter fails open` };
      const status = ('statusOnError' in config ? config.statusOnError?.code : undefined) ?? FORBIDDEN;
      return { kind: 'refused', status, why: `${name} is asked and fails` };
    }
    default:
      return { kind: 'unknown', why: `${name} is asked, and the question does not say what it answers` };
  }
}

function authorizerOf(config: HttpExtAuthz | NetworkExtAuthz): string {
  const http = 'httpService' in config ? config.httpService?.serverUri?.cluster : undefined;
  return `the authorizer ${http ?? config.grpcService?.envoyGrpc?.clusterName ?? ''}`;
}
