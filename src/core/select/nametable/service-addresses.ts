// The addresses under which a proxy knows a service. They depend on a few attributes of the proxy, gathered in one
// small value (`AddressView`): proxies with equal views share everything built from it.
// Source: Istio pilot/pkg/model/service.go (GetAllAddressesForProxy, GetAddressForProxy).

import { goBoolean } from '../../base/go-boolean.ts';
import { isIpv4, isIpv6 } from '../../base/ip.ts';
import { scalarText } from '../../model/proxy.ts';
import type { Service } from '../../model/service.ts';
import type { Derivation } from '../../query/reader.ts';
import { isWaypoint } from '../proxy/proxy-type.ts';

export const NO_ADDRESS = '0.0.0.0';

export type AddressView = {
  readonly cluster: string;
  readonly ipMode: 'ipv4' | 'ipv6' | 'dual';
  /** A dual proxy gets the addresses of both families (ISTIO_DUAL_STACK or ambient mode), else of the first one's. */
  readonly bothFamilies: boolean;
  /** The proxy is reached by, or resolves, auto-allocated addresses. */
  readonly autoAllocated: boolean;
};

export const addressView: Derivation<AddressView> = {
  name: 'select/addressView',
  run: reader => {
    const ipMode = reader.facet('ipMode');
    const isSet = (key: string): boolean => goBoolean(scalarText(reader.metadata(key))) === true;
    return {
      cluster: reader.facet('clusterId'),
      ipMode,
      bothFamilies: ipMode === 'dual' && (reader.feature('ISTIO_DUAL_STACK') || reader.feature('PILOT_ENABLE_AMBIENT')),
      autoAllocated:
        (isSet('DNS_CAPTURE') || isWaypoint(reader)) &&
        (isSet('DNS_AUTO_ALLOCATE') || reader.feature('PILOT_ENABLE_IP_AUTOALLOCATE')),
    };
  },
};

/** Every address, `0.0.0.0` for none; empty if the service has addresses but none of a family that the proxy has. */
export function allAddresses(service: Service, view: AddressView): readonly string[] {
  const usable = ofFamilies(vipsOrAllocated(service, view), view);
  return usable.length > 0 ? usable : defaultAddresses(service, service.defaultAddress, view);
}

/**
 * The addresses of a service that was cut to one port of a sidecar's route: its VIPs, else the one address that the
 * proxy would use. Only one auto-allocated address is left by then.
 */
export function frozenAddresses(service: Service, view: AddressView): readonly string[] {
  const usable = ofFamilies(service.clusterVips[view.cluster] ?? [], view);
  return usable.length > 0 ? usable : defaultAddresses(service, singleAddress(service, view), view);
}

/** The one address that stands for the service; `0.0.0.0` for none. */
export function singleAddress(service: Service, view: AddressView): string {
  const [first] = ofFamilies(service.clusterVips[view.cluster] ?? [], view);
  if (first !== undefined) return first;
  if (service.defaultAddress === NO_ADDRESS && view.autoAllocated) {
    const first4 = view.ipMode === 'ipv6' ? undefined : service.autoAllocatedV4;
    const allocated = first4 ?? (view.ipMode === 'ipv4' ? undefined : service.autoAllocatedV6);
    if (allocated !== undefined) return allocated;
  }
  return service.defaultAddress;
}

function vipsOrAllocated(service: Service, view: AddressView): readonly string[] {
  const vips = service.clusterVips[view.cluster] ?? [];
  if (vips.length > 0 || !view.autoAllocated) return vips;
  return [service.autoAllocatedV4, service.autoAllocatedV6].filter(address => address !== undefined);
}

/**
 * A service with VIPs in other clusters only is not shown under an address that the proxy cannot use; a ServiceEntry
 * keeps its own.
 */
function defaultAddresses(service: Service, address: string, view: AddressView): readonly string[] {
  const elsewhere = Object.values(service.clusterVips).some(vips => vips.length > 0);
  return elsewhere ? ofFamilies([address], view) : [address];
}

function ofFamilies(addresses: readonly string[], view: AddressView): readonly string[] {
  if (view.bothFamilies) return addresses;
  const isFirst4 = view.ipMode === 'dual' && isIpv4(plain(addresses[0] ?? ''));
  const wanted = view.ipMode === 'ipv4' || isFirst4 ? isIpv4 : isIpv6;
  return addresses.filter(address => wanted(plain(address)));
}

/** Without the length of a CIDR prefix. */
function plain(address: string): string {
  return address.split('/', 1).join();
}
