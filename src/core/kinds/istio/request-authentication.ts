// RequestAuthentication: which tokens a workload accepts. Rules: Istio pkg/config/validation
// (ValidateRequestAuthentication).

import { parseUrl } from '../../schema/go-url.ts';
import type { JWTRule, RequestAuthentication } from '../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../report.ts';
import { istioKind, SECURITY, SECURITY_VERSIONS } from './istio-kind.ts';
import { policyReferences } from './policy-targets.ts';
import { checkDuration } from './validate/durations.ts';
import { checkHeaderName } from './validate/headers.ts';
import { jwksProblem } from './validate/jwks.ts';
import { checkPolicyTargets } from './validate/policy-targets.ts';
import { checkNoneEmpty } from './validate/principals.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly RequestAuthentication: { readonly spec: RequestAuthentication; readonly push: 'config' };
  }
}

export const requestAuthentication = istioKind({
  kind: 'RequestAuthentication',
  group: SECURITY,
  versions: SECURITY_VERSIONS,
  push: 'config',
  type: 'istio.security.v1beta1.RequestAuthentication',
  rules: checkRequestAuthentication,
  references: policyReferences,
});

function checkRequestAuthentication(spec: RequestAuthentication, report: Report): void {
  checkPolicyTargets(spec, report);
  spec.jwtRules?.forEach((rule, i) => {
    checkJwtRule(rule, `spec.jwtRules[${i}]`, report);
  });
}

function checkJwtRule(rule: JWTRule, path: string, report: Report): void {
  const { issuer = '', jwksUri = '', jwks = '' } = rule;
  if (issuer === '' && jwksUri === '') report(path, 'has neither issuer nor jwksUri');
  checkNoneEmpty(rule.audiences, `${path}.audiences`, report);
  checkNoneEmpty(rule.fromParams, `${path}.fromParams`, report);
  checkNoneEmpty(rule.fromCookies, `${path}.fromCookies`, report);
  if (jwksUri !== '') {
    const scheme = parseUrl(jwksUri)?.scheme;
    if (scheme !== 'http' && scheme !== 'https') {
      report(`${path}.jwksUri`, `${quoted(jwksUri)} is not a URL with the scheme http or https`);
    }
  }
  const found = jwks === '' ? undefined : jwksProblem(jwks);
  if (found !== undefined) report(`${path}.jwks`, found);
  rule.fromHeaders?.forEach(({ name = '' }, i) => {
    if (name === '') report(`${path}.fromHeaders[${i}].name`, 'is missing');
  });
  rule.outputClaimToHeaders?.forEach(({ claim = '', header = '' }, i) => {
    const at = `${path}.outputClaimToHeaders[${i}]`;
    if (claim === '') report(`${at}.claim`, 'is missing');
    if (header === '') report(`${at}.header`, 'is missing');
    else checkHeaderName(header, `${at}.header`, report);
  });
  checkDuration(rule.timeout, `${path}.timeout`, report);
}
