// Webhooks that should reach an external control plane: an address that is missing, cannot be read, or is an IP.
// Source: Istio pkg/config/analysis/analyzers/externalcontrolplane/externalcontrolplane.go.

import { isIp } from '../../core/base/ip.ts';
import { isObject, type JsonObject } from '../../core/base/json.ts';
import { parseUrl } from '../../core/schema/go-url.ts';
import type { Analyzer } from '../analyzer.ts';
import { externalControlPlaneAddressIsNotAHostname, invalidExternalControlPlaneConfig } from '../ist-0146-0176.ts';
import type { Report } from '../message.ts';
import { type Item, objectsOf, textOf } from '../objects.ts';

export const externalControlPlane: Analyzer = {
  name: 'externalcontrolplane.ExternalControlPlaneAnalyzer',
  description: 'Checks that the remote IstioOperator resources reference an external control plane',
  needs: [],
  analyze: (objects, report) => {
    for (const item of objects.all('ValidatingWebhookConfiguration')) {
      if (item.name === 'istiod-default-validator' || item.name.startsWith('istio-validator')) checkHooks(item, report);
    }
    for (const item of objects.all('MutatingWebhookConfiguration')) {
      if (item.name.startsWith('istio-sidecar-injector')) checkHooks(item, report);
    }
  },
};

function checkHooks(item: Item, report: Report): void {
  objectsOf(item.raw.webhooks).forEach((hook, i) => {
    checkHook(item, textOf(hook.name), isObject(hook.clientConfig) ? hook.clientConfig : {}, report, i);
  });
}

function checkHook(item: Item, name: string, { url, service }: JsonObject, report: Report, i: number): void {
  const path = `webhooks[${i}].clientConfig`;
  if (typeof url !== 'string') {
    if (!isObject(service)) report(item, invalidExternalControlPlaneConfig('', name, 'is blank'), path);
    return;
  }
  const host = parseUrl(url)?.hostname;
  if (host === undefined) {
    report(item, invalidExternalControlPlaneConfig(url, name, 'was provided in an invalid format'), `${path}.url`);
  } else if (isIp(host)) report(item, externalControlPlaneAddressIsNotAHostname(url, name), `${path}.url`);
}
