// Can the injection templates of the cluster be used? They are read as the webhook reads them, and each is rendered for
// a pod without anything special, in every namespace whose labels ask for injection. What a template does for one pod
// and not for another, only that pod can tell.

import { isLeft } from 'fp-ts/lib/Either.js';
import { inject } from '../../admission/inject/inject.ts';
import { type InjectorSetup, injectorConfigMap, injectorSetup } from '../../admission/inject/setup.ts';
import type { Received } from '../../analysis/objects.ts';
import { isObject } from '../../core/base/json.ts';
import type { Query } from '../../core/query/reader.ts';
import { Tracker } from '../../core/query/tracker.ts';
import type { State } from '../../core/state.ts';
import type { Found } from './found.ts';

const NAMESPACE = 'default';

/** Without the ConfigMap there is no finding: the templates of Periplus are used. */
export function injectorFindings(state: State, objects: readonly Received[]): readonly Found[] {
  const received = objects.find(({ object }) => isInjector(state, object));
  if (received === undefined) return [];
  const problems = new Tracker().get(state, undefined, unusable, '');
  return problems.map(text => ({ level: 'Error', text, received }));
}

function isInjector({ settings }: State, { kind, metadata }: Received['object']): boolean {
  if (kind !== 'ConfigMap' || !isObject(metadata)) return false;
  return metadata.namespace === settings.systemNamespace && metadata.name === injectorConfigMap(settings.revision);
}

const unusable: Query<'', readonly string[]> = {
  name: 'migration-injector',
  run: reader => {
    const setup = reader.get(injectorSetup, '');
    if (isLeft(setup)) return [`every pod would be refused: ${setup.left}`];
    return templatesForPods(setup.right).flatMap(template => {
      const annotations = { 'inject.istio.io/templates': template };
      const metadata = {
        name: 'probe',
        namespace: NAMESPACE,
        labels: { 'sidecar.istio.io/inject': 'true' },
        annotations,
      };
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'app', image: 'app' }] } };
      const injection = inject(reader, { pod, namespace: NAMESPACE, env: {} }, setup);
      return injection.kind === 'refused' ? [`template ${template}: ${injection.message}`] : [];
    });
  },
};

/** Those of managed Gateways get other data. */
const FOR_GATEWAYS: readonly string[] = ['kube-gateway', 'waypoint', 'agentgateway'];

function templatesForPods({ templates }: InjectorSetup): readonly string[] {
  return Object.keys(templates)
    .filter(name => !FOR_GATEWAYS.includes(name))
    .sort();
}
