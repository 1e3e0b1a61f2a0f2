// Injection webhooks that overlap, so that pods are injected twice, or that call a Service that does not exist.
// Source: Istio pkg/config/analysis/analyzers/webhook/webhook.go.

import { isObject, type JsonObject } from '../../core/base/json.ts';
import type { Labels } from '../../core/base/labels.ts';
import type { Analyzer } from '../analyzer.ts';
import { INJECT, INJECTION_LABEL, REVISION_LABEL } from '../in-mesh.ts';
import { invalidWebhook } from '../ist-0001-0145.ts';
import { selectorMatches, textList } from '../label-selector.ts';
import type { Report } from '../message.ts';
import { type AnalyzedObjects, fullName, type Item, memberOf, objectsOf, textOf } from '../objects.ts';

interface Webhook {
  readonly item: Item;
  readonly name: string;
  readonly hook: JsonObject;
}

export const webhooks: Analyzer = {
  name: 'webhook.Analyzer',
  description: 'Checks the validity of Istio webhooks',
  needs: ['MutatingWebhookConfiguration', 'Service'],
  analyze: (objects, report) => {
    const configurations = objects.all('MutatingWebhookConfiguration').filter(isIstios);
    const revisions = new Set(configurations.flatMap(revisionsOf));
    const all = configurations.flatMap(item =>
      objectsOf(item.raw.webhooks).map((hook): Webhook => ({ item, name: `${item.name}/${textOf(hook.name)}`, hook })),
    );
    reportOverlaps(all, revisions, report);
    for (const webhook of all) checkService(objects, webhook, report);
  },
};

function isIstios(item: Item): boolean {
  const names = objectsOf(item.raw.webhooks).map(({ name }) => textOf(name));
  return revisionsOf(item).length > 0 || names.some(name => name.endsWith('istio.io'));
}

function revisionsOf({ labels, raw }: Item): readonly string[] {
  const found = labels[REVISION_LABEL] === undefined ? [] : [labels[REVISION_LABEL]];
  for (const { namespaceSelector, objectSelector } of objectsOf(raw.webhooks)) {
    for (const selector of [namespaceSelector, objectSelector]) {
      const said = memberOf(selector, 'matchLabels', REVISION_LABEL);
      if (typeof said === 'string') found.push(said);
      for (const { key, values } of objectsOf(memberOf(selector, 'matchExpressions'))) {
        if (key === REVISION_LABEL) found.push(...textList(values));
      }
    }
  }
  return found;
}

/** Every combination of labels that decides about injection must match one webhook at most. */
function reportOverlaps(all: readonly Webhook[], revisions: ReadonlySet<string>, report: Report): void {
  for (const namespaceLabels of variants(INJECTION_LABEL, ['enabled', 'disabled'], revisions)) {
    for (const labels of variants(INJECT, ['true', 'false'], revisions)) {
      const met = all.filter(
        ({ hook }) =>
          selectorMatches(hook.namespaceSelector, namespaceLabels) && selectorMatches(hook.objectSelector, labels),
      );
      if (met.length < 2) continue;
      for (const { item, name } of met) {
        const others = met.map(other => other.name).filter(other => other !== name);
        const text = `Webhook overlaps with others: [${others.sort().join(' ')}]. This may cause injection to occur twice.`;
        report(item, invalidWebhook(text));
      }
    }
  }
}

function variants(label: string, values: readonly string[], revisions: ReadonlySet<string>): readonly Labels[] {
  const bases: readonly Labels[] = [{}, ...values.map(value => ({ [label]: value }))];
  return [
    ...bases,
    ...[...revisions].flatMap(revision => bases.map(base => ({ ...base, [REVISION_LABEL]: revision }))),
  ];
}

function checkService(objects: AnalyzedObjects, { item, hook }: Webhook, report: Report): void {
  const service = memberOf(hook.clientConfig, 'service');
  if (!isObject(service)) return;
  const named = { namespace: textOf(service.namespace), name: textOf(service.name) };
  if (objects.find('Service', named) !== undefined) return;
  report(item, invalidWebhook(`Injector refers to a control plane service that does not exist: ${fullName(named)}.`));
}
