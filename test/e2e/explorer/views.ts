// The views of the recorded outage that tests in a browser go through.

/** Views of the outage, each with a text that only its answer has. */
export const OUTAGE_VIEWS: readonly (readonly [string, string, string])[] = [
  ['timeline', '#/timeline?event=112&at=112', 'Differs from #19'],
  ['mesh', '#/mesh?at=131', 'productpage-v1'],
  ['proxies', '#/proxy?at=131', '3 proxies connected'],
  [
    'routes',
    '#/proxy/productpage-v1.shop?at=131&why=cluster%20outbound%7C9080%7Cv3%7Creviews.shop.svc.cluster.local',
    'has no subset v3',
  ],
  ['clusters', '#/proxy/productpage-v1.shop?at=131&tab=clusters', 'reviews.shop'],
  ['raw', '#/proxy/productpage-v1.shop?at=131&tab=raw&type=RDS&name=9080', 'History of'],
  ['request', '#/proxy/productpage-v1.shop?at=131&tab=ask&to=reviews%3A9080', '20 %'],
  ['object', '#/object/DestinationRule/shop/reviews?at=131', '2 versions'],
  ['difference', '#/what-if?at=112&from=111', '503 for that share'],
  ['push', '#/push/157', 'Events behind it'],
  ['convergence', '#/push/event/156', 'were sent something'],
  ['slow', '#/push/slow', 'Slowest proxies'],
  ['meshes', '#/mesh?at=131&from=100', '#100'],
  ['bisect', '#/bisect?run=bisect&condition=cluster-missing&proxy=productpage-v1.shop', 'DestinationRule'],
];
