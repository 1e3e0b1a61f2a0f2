// Host names as people say them.

/** `reviews.shop:9080` for `reviews.shop.svc.cluster.local:9080`; any other host as it is. */
export function shortHost(host: string): string {
  return host.replace(/^([^.:]+\.[^.:]+)\.svc\.[^:]+/, '$1');
}
