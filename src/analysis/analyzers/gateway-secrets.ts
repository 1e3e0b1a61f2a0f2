// Secrets that Gateways name: do they exist where the gateway's pods run, and do they hold a certificate and key that
// can be used now?
//
// Source: Istio pkg/config/analysis/analyzers/gateway/secret.go, pilot/pkg/credentials/kube/secrets.go
// (ExtractCertInfo), pilot/pkg/xds/sds.go (ValidateCertificate).

import { bytesOfBase64 } from '../../core/base/base64.ts';
import { isObject, type JsonObject } from '../../core/base/json.ts';
import { selects } from '../../core/base/labels.ts';
import type { Analyzer } from '../analyzer.ts';
import { referencedResourceNotFound } from '../ist-0001-0145.ts';
import { invalidGatewayCredential } from '../ist-0146-0176.ts';
import type { Report } from '../message.ts';
import { type AnalyzedObjects, type Item, selectorText, shortOrFullName, textOf } from '../objects.ts';

export const gatewaySecrets: Analyzer = {
  name: 'gateway.SecretAnalyzer',
  description: "Checks a gateway's referenced secrets for correctness",
  needs: ['Gateway', 'Pod', 'Secret'],
  analyze: (objects, report) => {
    for (const item of objects.all('Gateway')) {
      const { selector = {} } = item.spec;
      const pod = objects.all('Pod').find(({ labels }) => selects(selector, labels));
      if (pod === undefined) {
        report(item, referencedResourceNotFound('selector', selectorText(selector)), 'spec.selector');
      } else checkServers(objects, item, pod.namespace, report);
    }
  },
};

function checkServers(objects: AnalyzedObjects, item: Item<'Gateway'>, namespace: string, report: Report): void {
  (item.spec.servers ?? []).forEach(({ tls }, i) => {
    const name = tls?.credentialName ?? '';
    if (name === '') return;
    const path = `spec.servers[${i}].tls.credentialName`;
    const secret = objects.find('Secret', shortOrFullName(namespace, name));
    if (secret === undefined) report(item, referencedResourceNotFound('credentialName', name), path);
    else if (!isUsable(objects, secret.raw)) report(item, invalidGatewayCredential(item.name, namespace), path);
  });
}

/** The keys of a generic Secret, and of one of type kubernetes.io/tls. */
const KEYS = [
  ['cert', 'key'],
  ['tls.crt', 'tls.key'],
] as const;

function isUsable({ certificateIsValid, now }: AnalyzedObjects, secret: JsonObject): boolean {
  for (const [certificate, key] of KEYS) {
    const [pem, privateKey] = [textAt(secret, certificate), textAt(secret, key)];
    if (pem !== '' && privateKey !== '') return certificateIsValid(pem, now);
  }
  return false;
}

/** The text of a member, whichever way it is written. PEM is ASCII. */
function textAt({ data, stringData }: JsonObject, key: string): string {
  const plain = isObject(stringData) ? textOf(stringData[key]) : '';
  if (plain !== '') return plain;
  const bytes = bytesOfBase64(isObject(data) ? textOf(data[key]) : '');
  return Array.from(bytes, byte => String.fromCharCode(byte)).join('');
}
