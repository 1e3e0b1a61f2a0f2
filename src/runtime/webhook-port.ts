// The port of the webhooks: served with the certificate of the secure port, whose roots the API server is told.

import type { Registry } from 'prom-client';
import { WebhookServer } from '../admission/webhook/server.ts';
import { webhookMetrics } from '../admission/webhook/webhook-metrics.ts';
import { Webhooks } from '../admission/webhook/webhooks.ts';
import type { State } from '../core/state.ts';
import type { Log } from './log.ts';
import type { OpenedPort } from './secure-port.ts';
import type { Address } from './serve-options.ts';

export interface WebhookPortParts {
  readonly state: () => State;
  readonly registry: Registry;
  readonly ready: () => boolean;
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
  const { state, registry, ready, minVersion, log, secure } = parts;
  const counts = webhookMetrics(registry);
  const webhooks = new Webhooks({ state, counts, log });
  const server = new WebhookServer({ webhooks, counts, log, ready, minVersion });
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
