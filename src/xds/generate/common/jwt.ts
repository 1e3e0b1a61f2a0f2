// Where the claims of a validated token stand in dynamic metadata. The `jwt_authn` filter writes them; authorization
// rules and claim-based routes read them. Source: Istio pkg/jwt, pilot/pkg/security/authn/policy_applier.go.

export const JWT_FILTER = 'envoy.filters.http.jwt_authn';
/** The key below which the filter writes the payload, whichever provider accepted the token. */
export const JWT_PAYLOAD = 'payload';
