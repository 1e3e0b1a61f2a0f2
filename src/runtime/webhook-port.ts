// The port of the webhooks: served with the certificate of the secure port, whose roots the API server is told.

import type { Registry } from 'prom-client';
import type { Adapter } from '../adapters/adapter.ts';
import { connectCalls } from '../adapters/kube/calls.ts';
import { VERSION } from '../admin/version.ts';
import type { InjectorInForce } from '../admission/inject/in-force.ts';
import { SelfTest } from '../admission/webhook/self-test.ts';
import { WebhookServer } from '../admission/webhook/server.ts';
import { webhookMetrics } from '../admission/webhook/webhook-metrics.ts';
import { Webhooks } from '../admission/webhook/webhooks.ts';
import type { State } from '../core/state.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { OpenedPort } from './secure-port.ts';
import type { Address, ServeOptions } from './serve-options.ts';

export interface WebhookPortParts {
  readonly state: () => State;
  readonly injector: InjectorInForce;
  readonly registry: Registry;
  readonly ready: () => boolean;
  readonly injects: boolean;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly log: Log;
  readonly secure: Pick<OpenedPort, 'onCertificate'>;
}

export interface OpenedWebhooks {
  readonly port: number;
  /** Requests under way are answered, for at most `ms`. */
  close(ms: number): Promise<void>;
}

/** Resolves when the port is bound. */
export async function openWebhookPort(address: Address, parts: WebhookPortParts): Promise<OpenedWebhooks> {
  const { state, injector, registry, ready, injects, minVersion, log, secure } = parts;
  const counts = webhookMetrics(registry);
  const webhooks = new Webhooks({ state, injector, counts, log });
  const server = new WebhookServer({ webhooks, counts, log, ready, injects, minVersion });
  secure.onCertificate(serving => {
    try {
      server.use(serving);
    } catch (error) {
      log(
        'error',
        `the certificate of the webhooks stays as it is: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  });
  const port = await server.listen(address.host, address.port);
  return { port, close: ms => server.close(ms) };
}

/** The self-test of the validating webhook; none without a cluster that may be written to. */
export async function webhookAdapters(
  { kube, writes, httpsAddr, settings }: Pick<ServeOptions, 'kube' | 'writes' | 'httpsAddr' | 'settings'>,
  clock: Clock,
  log: Log,
): Promise<{ readonly adapters: readonly Adapter[]; close(): void }> {
  if (kube === undefined || writes === undefined || httpsAddr === undefined)
    return { adapters: [], close: () => undefined };
  const { kubeconfig, context } = kube;
  const { call, close } = await connectCalls({ kubeconfig, context, userAgent: `periplus/${VERSION}` });
  const { clusterId: cluster, systemNamespace: namespace, revision } = settings;
  return { adapters: [new SelfTest({ cluster, namespace, revision, call, after: clock.after, log })], close };
}
