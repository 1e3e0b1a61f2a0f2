import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Connection, explain, type HttpRequest, heldIn, oracleOf, type Token } from '../../src/oracle-entry.ts';

const mesh = {
  files: {
    'shop.yaml': `
apiVersion: v1
kind: Service
metadata: {name: catalog, namespace: shop}
spec: {clusterIP: 10.96.7.1, ports: [{name: http, port: 80, targetPort: 8080}], selector: {app: catalog}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: catalog, namespace: shop, labels: {kubernetes.io/service-name: catalog}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints:
  - {addresses: [10.20.0.1], targetRef: {kind: Pod, namespace: shop, name: catalog-stable}}
  - {addresses: [10.20.0.2], targetRef: {kind: Pod, namespace: shop, name: catalog-next}}
---
apiVersion: v1
kind: Pod
metadata: {name: catalog-stable, namespace: shop, labels: {app: catalog, track: stable}}
status: {podIP: 10.20.0.1, phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: catalog-next, namespace: shop, labels: {app: catalog, track: next}}
status: {podIP: 10.20.0.2, phase: Running}
`,
    'rules.yaml': `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: catalog, namespace: shop}
spec:
  host: catalog
  subsets: [{name: stable, labels: {track: stable}}, {name: next, labels: {track: next}}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: catalog, namespace: shop}
spec:
  hosts: [catalog]
  http:
    - match: [{headers: {x-staff: {exact: "yes"}}}]
      route: [{destination: {host: catalog, subset: next}}]
    - route:
        - {destination: {host: catalog, subset: stable}, weight: 95}
        - {destination: {host: catalog, subset: next}, weight: 5}
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: default, namespace: shop}
spec: {mtls: {mode: STRICT}}
`,
    'access.yaml': `
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: guests, namespace: shop}
spec:
  selector: {matchLabels: {app: catalog}}
  jwtRules: [{issuer: https://guests.example.com, jwks: '{"keys":[{"kty":"RSA","e":"AQAB","n":"xAE7eB6q"}]}'}]
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: readers, namespace: shop}
spec:
  selector: {matchLabels: {app: catalog}}
  rules:
    - from: [{source: {serviceAccounts: [basket]}}]
    - from: [{source: {requestPrincipals: [https://guests.example.com/*]}}]
      to: [{operation: {methods: [GET]}}]
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: refunds, namespace: shop}
spec:
  selector: {matchLabels: {app: catalog}}
  action: CUSTOM
  provider: {name: risk}
  rules: [{to: [{operation: {paths: [/refunds]}}]}]
`,
  },
  mesh: {
    outboundTrafficPolicy: { mode: 'REGISTRY_ONLY' },
    extensionProviders: [{ name: 'risk', envoyExtAuthzGrpc: { service: 'catalog.shop.svc.cluster.local', port: 80 } }],
  },
};

const sidecar = (name: string, ip: string, labels: Record<string, string>) => ({
  id: `sidecar~${ip}~${name}.shop~shop.svc.cluster.local`,
  metadata: { NAMESPACE: 'shop', CLUSTER_ID: 'Kubernetes', INSTANCE_IPS: ip, LABELS: labels },
});
const basket = oracleOf(await heldIn(mesh, sidecar('basket', '10.20.0.9', { app: 'basket' })));
const catalog = oracleOf(await heldIn(mesh, sidecar('catalog-next', '10.20.0.2', { app: 'catalog', track: 'next' })));

const ask = (path: string, headers: Record<string, string> = {}): Connection => ({
  arrives: 'outbound',
  destination: { address: '10.96.7.1', port: 80 },
  http: { authority: 'catalog', path, headers },
});

/** The share of requests that end at an address. */
function share(connection: Connection, address: string): number {
  return basket
    .predict(connection)
    .branches.filter(({ outcome }) => outcome.kind === 'forwarded' && outcome.endpoint.address === address)
    .reduce((sum, { probability }) => sum + probability, 0);
}

test('staff and 5% of all others reach the next version', () => {
  expect(share(ask('/', { 'x-staff': 'yes' }), '10.20.0.2')).toBe(1);
  expect(share(ask('/'), '10.20.0.2')).toBeCloseTo(0.05);
  // Whether the catalog lets them in is its own proxy's part of the answer: see below.
  const [likeliest] = basket.predict(ask('/')).branches;
  expect(likeliest?.beyond).toEqual(['the policies of the destination, in the proxy of 10.20.0.1:8080']);
});

test('every request to the catalog is answered by a catalog host', () => {
  const headers = fc.dictionary(fc.constantFrom('x-staff', 'cookie', 'accept'), fc.string());
  fc.assert(
    fc.property(fc.webPath(), headers, (path, given) => {
      const prediction = basket.predict(ask(`/${path}`, given));
      for (const { outcome } of prediction.branches) expect(outcome.kind, explain(prediction)).toBe('forwarded');
    }),
    { seed: 1 },
  );
});

test('no request leaves for hosts unknown to the mesh', () => {
  const elsewhere: Connection = { arrives: 'outbound', destination: { address: '198.51.100.1', port: 443 }, tls: {} };
  expect(basket.predict(elsewhere).branches.map(({ outcome }) => outcome.kind)).toEqual(['closed']);
});

test('the catalog accepts no plaintext', () => {
  const plaintext: Connection = {
    arrives: 'inbound',
    destination: { address: '10.20.0.2', port: 8080 },
    http: { authority: 'catalog' },
  };
  const proven = { alpn: ['istio'], certificate: 'spiffe://cluster.local/ns/shop/sa/basket' };
  expect(catalog.predict(plaintext).branches[0]?.outcome.kind).toBe('closed');
  expect(catalog.predict({ ...plaintext, tls: proven }).branches[0]?.outcome.kind).toBe('forwarded');
});

/**
 * What happens to a request that reaches the catalog's own proxy from the account `desk`, and the policy that decided.
 */
function received(http: Partial<HttpRequest>, more: Partial<Connection> = {}) {
  const prediction = catalog.predict({
    arrives: 'inbound',
    destination: { address: '10.20.0.2', port: 8080 },
    tls: { alpn: ['istio'], certificate: 'spiffe://cluster.local/ns/shop/sa/desk' },
    http: { authority: 'catalog', ...http },
    ...more,
  });
  const { outcome, verdicts } = prediction.branches[0]!;
  const decided = verdicts.findLast(({ shadow, policy }) => !shadow && policy !== '');
  return { what: outcome.kind === 'answered' ? outcome.status : outcome.kind, by: decided?.policy };
}

test('guests read with a token of theirs, and write nothing', () => {
  const bearing = (token: Token) => ({ headers: { authorization: 'Bearer t' }, tokens: { t: token } });
  const guest: Token = { claims: { iss: 'https://guests.example.com', sub: 'ann' } };
  expect(received(bearing(guest))).toEqual({ what: 'forwarded', by: 'ns[shop]-policy[readers]-rule[1]' });
  expect(received({ ...bearing(guest), method: 'POST' }).what).toBe(403);
  expect(received(bearing({ ...guest, expired: true })).what).toBe(401);
  expect(received(bearing({ ...guest, genuine: false })).what).toBe(401);
  expect(received({}).what).toBe(403);
});

test('a refund waits for the word of the authorizer', () => {
  const desk = { path: '/refunds' };
  expect(received(desk).what).toBe('unknown');
  expect(received(desk, { authorizer: 'denies' }).what).toBe(403);
  expect(received(desk, { authorizer: 'fails' }).what).toBe(403);
});
