// What happens in the recorded samples. Each is a small day of a small mesh: what people, controllers and proxies do, in order.

import {
  type Backend,
  destinationRule,
  entrance,
  gateway,
  gatewayNode,
  NAMESPACE,
  namespace,
  pod,
  service,
  sidecarNode,
  slice,
  virtualService,
  withTimeout,
} from './mesh.ts';
import { refusesPrivilegedPorts } from './sample-proxy.ts';
import type { Stage } from './stage.ts';

const PRODUCTPAGE = '10.1.0.1';
const DETAILS: readonly Backend[] = [
  { version: 'v1', ip: '10.1.1.1' },
  { version: 'v1b', ip: '10.1.1.2' },
];
const RATINGS: readonly Backend[] = [
  { version: 'v1', ip: '10.1.2.1' },
  { version: 'v1b', ip: '10.1.2.2' },
];
const REVIEWS: readonly Backend[] = [
  { version: 'v1', ip: '10.1.3.1' },
  { version: 'v2', ip: '10.1.3.2' },
  { version: 'v3', ip: '10.1.3.3' },
];

function backends(stage: Stage, app: string, all: readonly Backend[]): void {
  const now = stage.now();
  stage.write(
    `${app}-endpoints.yaml`,
    ...all.map(one => pod(app, one.version, one.ip, one.ready, now)),
    slice(app, all, now),
  );
}

function shop(stage: Stage, reviews: readonly Backend[]): void {
  stage.write('namespaces.yaml', namespace(NAMESPACE), namespace('istio-system'));
  stage.write(
    'services.yaml',
    service('productpage', 1),
    service('details', 2),
    service('ratings', 3),
    service('reviews', 4),
  );
  backends(stage, 'productpage', [{ version: 'v1', ip: PRODUCTPAGE }]);
  backends(stage, 'details', DETAILS);
  backends(stage, 'ratings', RATINGS);
  backends(stage, 'reviews', reviews);
  stage.write('entrance.yaml', gateway([8080], 'argocd'), entrance);
}

/** A pod of the app stops being ready for a moment: what a cluster does all day. */
async function blink(stage: Stage, time: string, app: string, all: readonly Backend[], which: number): Promise<void> {
  stage.advanceTo(time);
  backends(
    stage,
    app,
    all.map((one, i) => (i === which ? { ...one, ready: false } : one)),
  );
  await stage.quiet();
  backends(stage, app, all);
  await stage.quiet();
}

/** Deploy, canary, a bad change, rollback; and a gateway that refuses a port it cannot bind. */
async function bookinfoDay(stage: Stage): Promise<void> {
  stage.advanceTo('8:00');
  shop(stage, REVIEWS.slice(0, 1));
  await stage.open();
  await stage.connect('productpage', sidecarNode('productpage', 'v1', PRODUCTPAGE));
  await stage.connect('gateway', gatewayNode('10.1.9.1'), refusesPrivilegedPorts);
  await blink(stage, '8:40', 'ratings', RATINGS, 0);
  stage.advanceTo('9:10');
  backends(stage, 'reviews', REVIEWS.slice(0, 2));
  await stage.quiet();
  await stage.change('9:30', 'reviews-rule.yaml', destinationRule('reviews', ['v1', 'v2'], 'argocd', stage.now()));
  const route = (weights: Readonly<Record<string, number>>, who: string) =>
    virtualService('reviews', weights, who, stage.now());
  await stage.change('9:31', 'reviews-route.yaml', route({ v1: 90, v2: 10 }, 'argocd'));
  await blink(stage, '10:05', 'details', DETAILS, 1);
  await stage.change('11:00', 'reviews-route.yaml', route({ v1: 50, v2: 50 }, 'argocd'));
  await blink(stage, '12:20', 'ratings', RATINGS, 1);
  await stage.change('13:15', 'entrance.yaml', gateway([8080, 80], 'kubectl-edit', stage.now()), entrance);
  await stage.change('13:24', 'entrance.yaml', gateway([8080], 'argocd', stage.now()), entrance);
  await stage.change('14:02', 'reviews-route.yaml', route({ v2: 80, v3: 20 }, 'kubectl-edit'));
  await blink(stage, '14:05', 'ratings', RATINGS, 0);
  await stage.change('14:09', 'reviews-route.yaml', route({ v1: 50, v2: 50 }, 'argocd'));
  await stage.change('14:40', 'reviews-route.yaml', withTimeout(route({ v1: 50, v2: 50 }, 'kubectl-edit'), '5'));
  await stage.change('14:44', 'reviews-route.yaml', withTimeout(route({ v1: 50, v2: 50 }, 'kubectl-edit'), '5s'));
  await blink(stage, '15:10', 'details', DETAILS, 0);
  await stage.change('17:00', 'reviews-route.yaml', route({ v1: 0, v2: 100 }, 'argocd'));
}

/** A subset is removed before the route that uses it, in the middle of the usual noise. */
async function subsetOutage(stage: Stage): Promise<void> {
  stage.advanceTo('9:00');
  shop(stage, REVIEWS);
  stage.write('reviews-rule.yaml', destinationRule('reviews', ['v1', 'v2', 'v3'], 'helm'));
  stage.write('reviews-route.yaml', virtualService('reviews', { v1: 80, v3: 20 }, 'argocd'));
  await stage.open();
  await stage.connect('productpage', sidecarNode('productpage', 'v1', PRODUCTPAGE));
  await stage.connect('ratings', sidecarNode('ratings', 'v1', '10.1.2.1'));
  await stage.connect('gateway', gatewayNode('10.1.9.1'), refusesPrivilegedPorts);
  for (let minute = 5; minute < 60; minute += 11) {
    await blink(stage, `9:${minute}`, 'ratings', RATINGS, minute % 2);
    await blink(stage, `9:${minute + 3}`, 'details', DETAILS, minute % 2);
  }
  await stage.change(
    '10:12',
    'reviews-rule.yaml',
    destinationRule('reviews', ['v1', 'v2'], 'helm', '2026-03-11T10:12:00Z'),
  );
  for (let minute = 14; minute < 30; minute += 7) {
    await blink(stage, `10:${minute}`, 'details', DETAILS, minute % 2);
    await blink(stage, `10:${minute + 2}`, 'ratings', RATINGS, minute % 2);
  }
  const mended = virtualService('reviews', { v1: 80, v2: 20 }, 'kubectl-edit', '2026-03-11T10:31:00Z');
  await stage.change('10:31', 'reviews-route.yaml', mended);
  await blink(stage, '10:40', 'ratings', RATINGS, 0);
}

const STORM_WRITES = 40;

/**
 * Two controllers write annotations all the time. One writes its own, which mean nothing to a mesh: those writes leave no trace. The other
 * one keeps changing whom a service is exported to, and every change goes to every proxy.
 */
async function annotationStorm(stage: Stage): Promise<void> {
  stage.advanceTo('7:00');
  shop(stage, REVIEWS);
  await stage.open();
  await stage.connect('productpage', sidecarNode('productpage', 'v1', PRODUCTPAGE));
  await stage.connect('ratings', sidecarNode('ratings', 'v1', '10.1.2.1'));
  for (let i = 0; i < STORM_WRITES; i++) {
    stage.advanceTo(`7:${10 + i}`);
    const status = { 'autoscaling.alpha.kubernetes.io/conditions': `{"type":"AbleToScale","checked":${i}}` };
    const scope = { 'networking.istio.io/exportTo': i % 2 === 0 ? '.' : '*' };
    const now = stage.now();
    stage.write(
      'services.yaml',
      service('productpage', 1),
      service('details', 2, now, status, 'hpa-controller'),
      service('ratings', 3),
      service('reviews', 4, now, i % 4 < 2 ? status : { ...status, ...scope }, 'tenant-operator'),
    );
    await stage.quiet();
  }
}

export const stories: Readonly<
  Record<string, { readonly day: number; readonly play: (stage: Stage) => Promise<void> }>
> = {
  'bookinfo-day': { day: Date.UTC(2026, 2, 10), play: bookinfoDay },
  'subset-outage': { day: Date.UTC(2026, 2, 11), play: subsetOutage },
  'annotation-storm': { day: Date.UTC(2026, 2, 12), play: annotationStorm },
};
