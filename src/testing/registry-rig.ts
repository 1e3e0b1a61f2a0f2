// The rig of law 9 for registries of services: the objects that the rig sets become services of one instance, and what
// is recorded is read back as them. So a registry's tests say only how a service is registered in it.

import type { Adapter } from '../adapters/adapter.ts';
import { SERVICE_LABEL } from '../adapters/kit/registry-service.ts';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { RawObject } from '../core/event.ts';
import type { RigSource } from './adapter-rig.ts';

/** A service as the rig registers it: one healthy instance, at `port`, with the label `version`. */
export interface RigService {
  readonly port: number;
  readonly version: string;
}

/** A registry that the rig can change. */
export interface RegistryUnderTest {
  put(name: string, service: RigService): Promise<void>;
  remove(name: string): Promise<void>;
  /** A new adapter for it. */
  open(): Adapter;
  /** As `RigSource.hide`. */
  hide?(hidden: boolean): Promise<void>;
  pass?(): Promise<void>;
}

export function registrySource(registry: RegistryUnderTest): RigSource {
  const services = new Map<string, RigService>();
  const waiting = new Map<string, RigService | undefined>();
  let hidden = false;
  const apply = async (name: string, service: RigService | undefined): Promise<void> => {
    if (service === undefined) {
      if (services.delete(name)) await registry.remove(name);
    } else {
      services.set(name, service);
      await registry.put(name, service);
    }
  };
  const { hide, pass } = registry;
  return {
    set: async (name, object) => {
      const service = object === undefined ? undefined : rigServiceOf(object);
      if (hidden && name !== 'route') waiting.set(name, service);
      else await apply(name, service);
    },
    open: () => registry.open(),
    held: async () => [...services].flatMap(([name, service]) => shown(name, service)),
    seen: seenIn,
    ...(pass === undefined ? {} : { pass: () => pass.call(registry) }),
    ...(hide === undefined
      ? {}
      : {
          hide: async (now: boolean): Promise<void> => {
            hidden = now;
            await hide.call(registry, now);
            if (hidden) return;
            for (const [name, service] of waiting) await apply(name, service);
            waiting.clear();
          },
        }),
  };
}

/** A Service by its port, a VirtualService by the host that it leads to. */
function rigServiceOf({ kind, spec }: RawObject): RigService {
  const ports = isObject(spec) && Array.isArray(spec.ports) ? (spec.ports as readonly Json[]) : [];
  const [first] = ports;
  if (isObject(first) && typeof first.port === 'number') return { port: first.port, version: 'v1' };
  const hosts = JSON.stringify(spec).match(/"host":"([a-z]+)"/);
  return { port: 80, version: `${kind === 'VirtualService' ? 'to' : 'of'}-${hosts?.[1] ?? 'none'}` };
}

function shown(name: string, { port, version }: RigService): readonly JsonObject[] {
  return [
    { service: name, port },
    { instanceOf: name, port, version },
  ];
}

/** A recorded object as `shown` has it. */
function seenIn({ kind, metadata, spec }: RawObject): RawObject | undefined {
  if (!isObject(metadata) || !isObject(spec)) return undefined;
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const service = (name: string): string => name.replace(/-[0-9a-f]{8}$/, '');
  if (kind === 'ServiceEntry') {
    const [port] = Array.isArray(spec.ports) ? (spec.ports as readonly Json[]) : [];
    return { service: service(text(metadata.name)), port: isObject(port) ? port.number : 0 };
  }
  const labels = isObject(metadata.labels) ? metadata.labels : {};
  const [port] = Object.values(isObject(spec.ports) ? spec.ports : {});
  return { instanceOf: service(text(labels[SERVICE_LABEL])), port, version: labels.version };
}
