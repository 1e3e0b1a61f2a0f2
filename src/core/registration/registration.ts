// Machines that register themselves: a proxy whose metadata names a WorkloadGroup gets a WorkloadEntry made of the
// group's template; one that names a WorkloadEntry reports the health of that. Which entry a proxy is, what it is made
// of, and who may have it.
//
// Pure: who is connected and for how long is the business of src/adapters/registration/.
// Source: Istio pilot/pkg/autoregistration/controller.go.

import { isObject, type JsonObject } from '../base/json.ts';
import { HEALTH_CHECKED, REGISTRATION_GROUP, takesHealth } from '../kinds/istio/workload-entry.ts';
import { featureOf } from '../mesh/features.ts';
import { verifiedIdentity } from '../model/identity.ts';
import { configKey, type Obj } from '../model/object.ts';
import { metadataText, type ProxyRecord } from '../model/proxy.ts';
import type { State } from '../state.ts';

const LOCALITY_LABEL = 'istio-locality';
const TUNNEL_LABEL = 'networking.istio.io/tunnel';
const NAME_LENGTH_MAX = 253;

export type RegisteringProxy = Pick<ProxyRecord, 'facets' | 'metadata' | 'identities' | 'node'>;

export interface EntryName {
  readonly namespace: string;
  readonly name: string;
  /** The WorkloadGroup to register with; '': the entry is there already. */
  readonly group: string;
}

/** The parts of a WorkloadEntry that a group and a proxy give. */
export interface EntryParts {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owner: { readonly name: string; readonly uid: string };
  readonly spec: JsonObject;
}

export interface RegistrationRefusal {
  readonly status: 'FAILED_PRECONDITION' | 'PERMISSION_DENIED';
  readonly error: string;
}

/** The WorkloadEntry that the proxy claims to be; undefined: none. */
export function claimedEntry(state: State, proxy: RegisteringProxy): EntryName | undefined {
  const { settings } = state;
  const { metadata, facets } = proxy;
  const namespace = metadataText(metadata, 'NAMESPACE');
  const group = metadataText(metadata, 'AUTO_REGISTER_GROUP');
  if (group !== '' && featureOf(settings, 'PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION')) {
    return namespace === '' ? undefined : { namespace, name: nameOf(group, facets), group };
  }
  const name = metadataText(metadata, 'WORKLOAD_ENTRY');
  if (name === '' || !featureOf(settings, 'PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS')) return undefined;
  return { namespace, name, group: '' };
}

/** The end of a name that is too long tells machines apart. */
function nameOf(group: string, { ips, network }: RegisteringProxy['facets']): string {
  const parts = [group, ips[0]!.replaceAll(':', '-'), ...(network === '' ? [] : [network])];
  return parts.join('-').slice(-NAME_LENGTH_MAX);
}

/** Why the proxy may not be the WorkloadEntry that it claims to be; undefined: it may, or claims none. */
export function whyNotRegistered(state: State, proxy: RegisteringProxy): RegistrationRefusal | undefined {
  const claimed = claimedEntry(state, proxy);
  if (claimed === undefined) return undefined;
  const { namespace, name, group } = claimed;
  const entry = entryInForce(state, claimed);
  if (entry !== undefined) {
    if (group === '' && !takesHealth(entry)) return undefined;
    return mismatch(state, proxy, namespace, entry.spec.serviceAccount ?? '');
  }
  if (group === '') {
    const what = `proxy metadata indicates that it must correspond to an existing WorkloadEntry`;
    return { status: 'FAILED_PRECONDITION', error: `${what}, however WorkloadEntry ${namespace}/${name} is not found` };
  }
  const found = groupOf(state, claimed);
  if (found === undefined) {
    const what = `auto-registration WorkloadEntry of ${proxy.facets.id} failed`;
    return { status: 'FAILED_PRECONDITION', error: `${what}: cannot find WorkloadGroup ${namespace}/${group}` };
  }
  return mismatch(state, proxy, namespace, found.spec.template?.serviceAccount ?? '');
}

export function entryInForce(state: State, { namespace, name }: EntryName): Obj<'WorkloadEntry'> | undefined {
  return state.objects.WorkloadEntry.get(configKey(namespace, name)) as Obj<'WorkloadEntry'> | undefined;
}

export function groupOf(state: State, { namespace, group }: EntryName): Obj<'WorkloadGroup'> | undefined {
  return state.objects.WorkloadGroup.get(configKey(namespace, group)) as Obj<'WorkloadGroup'> | undefined;
}

function mismatch(
  { settings }: State,
  proxy: RegisteringProxy,
  namespace: string,
  account: string,
): RegistrationRefusal | undefined {
  if (!featureOf(settings, 'ISTIO_WORKLOAD_ENTRY_VALIDATE_IDENTITY')) return undefined;
  const status = 'PERMISSION_DENIED';
  const identity = verifiedIdentity(proxy);
  const what = 'registration of WorkloadEntry';
  if (identity === undefined) return { status, error: `${what} requires a verified identity` };
  const pair = (proven: string, wanted: string): string => `${JSON.stringify(proven)} vs ${JSON.stringify(wanted)}`;
  if (identity.namespace !== namespace) {
    return { status, error: `${what} namespace mismatch: ${pair(identity.namespace, namespace)}` };
  }
  if (account !== '' && identity.serviceAccount !== account) {
    return { status, error: `${what} service account mismatch: ${pair(identity.serviceAccount, account)}` };
  }
  return undefined;
}

/** Labels of the node override those of the group, which override those of its template. */
export function entryFromGroup(
  { name, uid, spec: { metadata: given, template = {} } }: Obj<'WorkloadGroup'>,
  { node, metadata, facets }: RegisteringProxy,
): EntryParts {
  const labels: { [key: string]: string } = { ...template.labels, ...given?.labels };
  if (isObject(metadata.LABELS)) {
    for (const [key, value] of Object.entries(metadata.LABELS)) if (typeof value === 'string') labels[key] = value;
    // It stands in the spec, and is no value of a label.
    delete labels[LOCALITY_LABEL];
  }
  if (metadataText(metadata, 'ENABLE_HBONE') === 'true') labels[TUNNEL_LABEL] ??= 'http';
  const probes = isObject(metadata.PROXY_CONFIG) && isObject(metadata.PROXY_CONFIG.readinessProbe);
  const annotations = {
    [REGISTRATION_GROUP]: name,
    ...given?.annotations,
    ...(probes ? { [HEALTH_CHECKED]: 'true' } : {}),
  };
  const { region, zone, subzone } = facets.nodeLocality;
  const locality = isObject(node.locality) ? localityText([region, zone, subzone]) : undefined;
  const spec = {
    ...(template as JsonObject),
    address: facets.ips[0]!,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(facets.network === '' ? {} : { network: facets.network }),
    ...(locality === undefined ? {} : { locality }),
  };
  return { labels, annotations, owner: { name, uid }, spec };
}

/** Parts up to the first that is missing. */
function localityText(parts: readonly string[]): string {
  const end = parts.indexOf('');
  return parts.slice(0, end < 0 ? parts.length : end).join('/');
}
