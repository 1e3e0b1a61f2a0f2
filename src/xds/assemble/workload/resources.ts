// What ztunnels get: addresses (workloads and services) and authorizations. Nothing of it depends on the client, so all
// of them share one value, and a change costs what it changes however many there are.
// Source: Istio pilot/pkg/xds/workload.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader, Query, Reader } from '../../../core/query/reader.ts';
import {
  type AuthorizationInputs,
  authorizations,
  waypointAllowances,
} from '../../../core/select/ambient/authorizations.ts';
import { clientNode } from '../../../core/select/ambient/client.ts';
import { gatewayWorkloads } from '../../../core/select/ambient/gateway-workloads.ts';
import { portLevelPolicies, staticPolicyNamespace } from '../../../core/select/ambient/peer-authentications.ts';
import { ambientServices } from '../../../core/select/ambient/services.ts';
import type { AmbientWorkload } from '../../../core/select/ambient/workload.ts';
import { workloadNamespaces, workloadsIn } from '../../../core/select/ambient/workloads.ts';
import { ruleRanges } from '../../../core/select/policy/rule-ranges.ts';
import { plainWorkload, serviceAddress, workloadAddress, workloadServices } from '../../generate/workload/address.ts';
import { AddressIndex } from '../../generate/workload/address-index.ts';
import { authorization, authorizationGroups } from '../../generate/workload/authorization.ts';
import {
  portLevelAuthorization,
  staticStrict,
  waypointAllowance,
} from '../../generate/workload/peer-authentication.ts';
import type { Authorization, Workload, WorkloadAddress } from '../../proto/types.gen.ts';

type Address = Resource<WorkloadAddress>;

/** Services, then workloads by namespace, then gateways of networks. */
export const addresses: Query<'', readonly Address[]> = {
  name: 'workload/addresses',
  run: reader => [...reader.get(serviceAddresses, ''), ...reader.get(workloadLists, '').flat()],
};

/** Of a client that names some: these, in any of their names, and the workloads of its node. */
export function addressesNamed(reader: ProxyReader, names: readonly string[]): readonly Address[] {
  return reader.get(addressIndex, '').chosen(names, clientNode(reader));
}

const addressIndex: Query<'', AddressIndex> = {
  name: 'workload/addressIndex',
  run: reader => new AddressIndex(reader.get(addresses, '')),
};

const serviceAddresses: Query<'', readonly Address[]> = {
  name: 'workload/serviceAddresses',
  run: reader => reader.get(ambientServices, '').map(service => reader.make(serviceAddress, { service })),
};

const workloadLists: Query<'', readonly (readonly Address[])[]> = {
  name: 'workload/workloadLists',
  run: reader => [
    ...reader.get(workloadNamespaces, '').map(namespace => reader.get(addressesIn, namespace)),
    reader.get(gatewayWorkloads, '').map(workload => addressOf(reader, workload)),
  ],
};

/** Argument: a namespace. */
const addressesIn: Query<string, readonly Address[]> = {
  name: 'workload/addressesIn',
  run: (reader, namespace) => reader.get(workloadsIn, namespace).map(workload => addressOf(reader, workload)),
};

function addressOf(reader: Reader, workload: AmbientWorkload): Address {
  const services = reader.make(workloadServices, { services: workload.services });
  return reader.make(workloadAddress, { workload, services });
}

/** The workloads alone, for Envoys that find out about their peers. */
export const workloads: Query<'', readonly Resource<Workload>[]> = {
  name: 'workload/workloads',
  run: reader => plainWorkloads(reader, reader.get(workloadLists, '').flat()),
};

export function workloadsNamed(reader: ProxyReader, names: readonly string[]): readonly Resource<Workload>[] {
  return plainWorkloads(reader, addressesNamed(reader, names));
}

function plainWorkloads(reader: ProxyReader, all: readonly Address[]): readonly Resource<Workload>[] {
  return all
    .filter(({ message }) => message.workload !== undefined)
    .map(address => reader.make(plainWorkload, { address }));
}

/** A policy of a user comes before one that was made of another object under the same name. */
export const workloadAuthorizations: Query<'', readonly Resource<Authorization>[]> = {
  name: 'workload/authorizations',
  run: reader => {
    const rootNamespace = reader.get(staticPolicyNamespace, '');
    const made = [
      ...reader.get(authorizations, '').map(policy => authorizationOf(reader, policy)),
      ...reader.get(portLevelPolicies, '').map(levels => reader.make(portLevelAuthorization, { levels })),
      ...(rootNamespace === undefined ? [] : [reader.make(staticStrict, { rootNamespace })]),
      ...reader.get(waypointAllowances, '').map(allowance => reader.make(waypointAllowance, { allowance })),
    ];
    return made.filter(policy => policy !== undefined);
  },
};

function authorizationOf(reader: Reader, policy: AuthorizationInputs): Resource<Authorization> {
  const ranges = ruleRanges(policy.rules);
  if (ranges.length === 0) return reader.make(authorization, { policy });
  return reader.make(authorization, {
    policy,
    groups: ranges.map(range => reader.make(authorizationGroups, { policy, range })),
  });
}
