// How localities of endpoints compare with that of the proxy: shares, priorities by labels, or failover. A locality or
// label of the proxy is an input only where a policy makes use of it.
// Source: Istio pilot/pkg/xds/endpoints/endpoint_builder.go, pilot/pkg/networking/core/loadbalancer/loadbalancer.go.

import { type Labels, type LocalityParts, splitLocality } from '../../base/labels.ts';
import type { Endpoint, Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { proxyLabels, proxyLocality } from '../../registry/workload.ts';
import type { LocalityLoadBalancerSetting, Subset } from '../../schema/istio-types.gen.ts';
import type { ClusterPolicy } from '../cluster/traffic-policy.ts';
import { localityChoice } from './locality.ts';

/** The part of an `AssignmentQuestion` that decides. */
interface LocalityQuestion {
  readonly service: Service;
  readonly subset: Subset | undefined;
  readonly policy: ClusterPolicy | undefined;
  readonly dns: boolean;
  readonly sniDnat: boolean;
}

export interface LocalityInputs {
  /**
   * `distribute`: shares by locality; `priority`: by labels, then perhaps `failover`; `failover`: by distance; `none`:
   * as they are.
   */
  readonly localityMode: 'none' | 'distribute' | 'priority' | 'failover';
  /** Pattern → weight, of the entry that matches the proxy. */
  readonly distributeTo: Readonly<Record<string, number>> | undefined;
  readonly failover: LocalityLoadBalancerSetting['failover'];
  readonly priorityKeys: readonly string[];
  /** The value wanted for each key; undefined: the label must be missing. */
  readonly priorityValues: readonly (string | undefined)[];
  readonly region: string;
  readonly zone: string;
  readonly subzone: string;
}

export const noLocality: LocalityInputs = {
  localityMode: 'none',
  distributeTo: undefined,
  failover: undefined,
  priorityKeys: [],
  priorityValues: [],
  region: '',
  zone: '',
  subzone: '',
};

/** Exactly one branch applies: distribute, then failover priority, then failover. */
export function localityInputs(
  reader: ProxyReader,
  question: LocalityQuestion,
  endpoints: readonly Endpoint[],
): LocalityInputs {
  const { service, policy } = question;
  const choice = localityChoice(policy, service.trafficDistribution, reader.mesh('localityLbSetting'));
  if (choice === undefined || endpoints.length === 0) return noLocality;
  const distribute = choice.distribute ?? [];
  if (distribute.length > 0) {
    const { region, zone, subzone } = reader.derived(proxyLocality);
    const entry = distribute.find(candidate => localityMatches(candidate.from ?? '', { region, zone, subzone }));
    if (entry === undefined) return noLocality;
    return { ...noLocality, localityMode: 'distribute', distributeTo: entry.to ?? {} };
  }
  if (!choice.failoverActive) return noLocality;
  const { failover } = choice;
  const byDistance = { ...noLocality, failover, ...distanceInputs(reader) };
  if (choice.failoverPriority.length === 0) return { ...byDistance, localityMode: 'failover' };
  const failsOver = (failover ?? []).length > 0;
  const labels = reader.derived(proxyLabels);
  if (!splitsByLabels(question, labels)) return failsOver ? { ...byDistance, localityMode: 'failover' } : noLocality;
  return {
    ...(failsOver ? byDistance : noLocality),
    localityMode: 'priority',
    ...priorityInputs(choice.failoverPriority, labels),
  };
}

/**
 * As in Istio, of the clusters that resolve names only the default one of a port is split by labels, and nothing is for
 * a proxy without labels.
 */
function splitsByLabels({ dns, subset, sniDnat }: LocalityQuestion, labels: Labels): boolean {
  return Object.keys(labels).length > 0 && !(dns && (subset !== undefined || sniDnat));
}

/** `label`: the value of the proxy; `label=value`: that value. */
function priorityInputs(
  items: readonly string[],
  labels: Labels,
): Pick<LocalityInputs, 'priorityKeys' | 'priorityValues'> {
  const keys: string[] = [];
  const values: (string | undefined)[] = [];
  for (const item of items) {
    const equals = item.indexOf('=');
    keys.push(equals < 0 ? item : item.slice(0, equals));
    values.push(equals < 0 ? labels[item] : item.slice(equals + 1));
  }
  return { priorityKeys: keys, priorityValues: values };
}

function distanceInputs(reader: ProxyReader): Pick<LocalityInputs, 'region' | 'zone' | 'subzone'> {
  const { region, zone, subzone } = reader.derived(proxyLocality);
  return { region, zone, subzone };
}

/**
 * `*` for a part matches all; so do parts that are missing, except the region. Istio pilot/pkg/networking/util
 * (LocalityMatch).
 */
export function localityMatches(pattern: string, { region, zone, subzone }: LocalityParts): boolean {
  const wanted = splitLocality(pattern);
  return (
    (wanted.region === '*' || wanted.region === region) &&
    (wanted.zone === '*' || wanted.zone === '' || wanted.zone === zone) &&
    (wanted.subzone === '*' || wanted.subzone === '' || wanted.subzone === subzone)
  );
}
