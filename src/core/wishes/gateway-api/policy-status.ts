// The statuses of policies for backends: one entry for each target, and for a BackendTLSPolicy one for each Gateway
// whose routes lead to a target.
// Source: Istio pilot/pkg/config/kube/gateway/backend_policies.go.

import type { JsonObject } from '../../base/json.ts';
import { GATEWAY_API } from '../../kinds/gateway-api/gateway-kind.ts';
import { configKey, type Obj } from '../../model/object.ts';
import type { Query } from '../../query/reader.ts';
import {
  arePoliciesRead,
  type PolicyKind,
  type TargetVerdict,
  type TranslatedPolicy,
  translatedPolicy,
} from '../../translate/gateway-api/policies.ts';
import { allOfRevision } from '../../translate/gateway-api/revision.ts';
import { routeKinds } from '../../translate/gateway-api/route-kinds.ts';
import { isRead } from '../../translate/gateway-api/routes.ts';
import type { Wish } from '../wish.ts';
import { condition, conditionsJson } from './conditions.ts';
import { statusWish, writesStatuses } from './status-wish.ts';

const MESH_CONTROLLER = 'istio.io/mesh-controller';
const KINDS: readonly PolicyKind[] = ['BackendTLSPolicy', 'XBackendTrafficPolicy'];

/** Argument ''. */
export const policyStatuses: Query<'', readonly Wish[]> = {
  name: 'wishes/policyStatuses',
  run: reader => {
    if (!writesStatuses(reader)) return [];
    return KINDS.filter(kind => arePoliciesRead(reader, kind)).flatMap(kind =>
      allOfRevision(reader, kind).flatMap(
        ({ namespace, name }: Obj) => reader.get(policyStatus, { kind, key: configKey(namespace, name) }) ?? [],
      ),
    );
  },
};

const policyStatus: Query<{ readonly kind: PolicyKind; readonly key: string }, Wish | undefined> = {
  name: 'wishes/policyStatus',
  key: ({ kind, key }) => `${kind}/${key}`,
  run: (reader, { kind, key }) => {
    const obj = reader.object(kind, key) as Obj | undefined;
    const policy = reader.get(translatedPolicy, { kind, key });
    if (obj === undefined || policy === undefined) return undefined;
    const isTls = kind === 'BackendTLSPolicy' && !policy.ignored;
    const conditionsOf = (verdict: TargetVerdict): readonly JsonObject[] => verdictJson(obj, policy, verdict, isTls);
    const ancestors: JsonObject[] = policy.verdicts.map(verdict => ({
      ancestorRef: { ...verdict.ref },
      controllerName: MESH_CONTROLLER,
      conditions: conditionsOf(verdict),
    }));
    const controllerName = reader.feature('PILOT_GATEWAY_API_CONTROLLER_NAME');
    const last = policy.verdicts.at(-1);
    if (isTls && last !== undefined) {
      const gateways = new Set(policy.verdicts.flatMap(({ backend }) => reader.get(gatewaysOfBackend, backend)));
      for (const gateway of [...gateways].sort()) {
        const name = gateway.slice(gateway.indexOf('/') + 1);
        const ancestorRef = { group: GATEWAY_API, kind: 'Gateway', name };
        ancestors.push({ ancestorRef, controllerName, conditions: conditionsOf(last) });
      }
    }
    const controllers = [MESH_CONTROLLER, controllerName];
    const rule = { of: 'entries', member: 'ancestors', controllers, namespace: '' } as const;
    return statusWish(reader, obj, { ancestors }, rule);
  },
};

function verdictJson(
  { generation }: Obj,
  { acceptedMessage }: TranslatedPolicy,
  { accepted, resolvedRefs }: TargetVerdict,
  isTls: boolean,
): readonly JsonObject[] {
  return conditionsJson(generation, [
    condition('Accepted', accepted, 'Accepted', acceptedMessage),
    ...(isTls ? [condition('ResolvedRefs', resolvedRefs, 'ResolvedRefs', 'Configuration is valid')] : []),
  ]);
}

interface Routed {
  readonly parentRefs?: readonly {
    readonly group: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
  }[];
  readonly rules?: readonly {
    readonly backendRefs?: readonly {
      readonly group: string;
      readonly kind: string;
      readonly namespace?: string;
      readonly name: string;
    }[];
  }[];
}

/** `group/kind` of backends that a policy can be for. */
const BACKEND_KINDS: Readonly<Record<string, string>> = {
  '/Service': 'Service',
  'networking.istio.io/ServiceEntry': 'ServiceEntry',
};

/** `Service/namespace/name` → `namespace/name` of Gateways, whether ours, there, or attached to. */
const allBackends: Query<'', ReadonlyMap<string, readonly string[]>> = {
  name: 'wishes/gatewaysOfAllBackends',
  run: reader => {
    const found = new Map<string, Set<string>>();
    for (const kind of routeKinds) {
      if (!isRead(reader, kind)) continue;
      for (const { namespace, spec } of allOfRevision(reader, kind) as readonly Obj[]) {
        const { parentRefs = [], rules = [] } = spec as Routed;
        const gateways = parentRefs
          .filter(ref => ref.group === GATEWAY_API && ref.kind === 'Gateway')
          .map(ref => configKey(ref.namespace ?? namespace, ref.name));
        for (const ref of rules.flatMap(({ backendRefs = [] }) => backendRefs)) {
          const kind = BACKEND_KINDS[`${ref.group}/${ref.kind}`];
          if (kind === undefined) continue;
          const key = `${kind}/${configKey(ref.namespace ?? namespace, ref.name)}`;
          found.set(key, new Set([...(found.get(key) ?? []), ...gateways]));
        }
      }
    }
    return new Map([...found].map(([key, gateways]) => [key, [...gateways].sort()]));
  },
};

const gatewaysOfBackend: Query<string, readonly string[]> = {
  name: 'wishes/gatewaysOfBackend',
  run: (reader, backend) => (backend === '' ? [] : (reader.get(allBackends, '').get(backend) ?? [])),
};
