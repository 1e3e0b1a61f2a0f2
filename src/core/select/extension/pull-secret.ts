// The Secret by which the agent pulls the image of a module.
//
// It is always one of the extension's own namespace, whatever namespace the author writes. Only a proxy whose stream
// proves its identity, and that the extension selects, gets its content; for any other proxy it is empty, which an
// agent takes for a failed fetch. The authority's own Secret has another type and can never be sent.
// Source: Istio pilot/pkg/model/extensions.go (image pull secrets), pilot/pkg/xds/ecds.go (GeneratePullSecrets).

import { textOfBase64 } from '../../base/base64.ts';
import { kubernetesKey } from '../../model/object.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { subjectsOf } from '../ambient/subjects.ts';
import { type Extension, extensionsOfProxy } from './extensions.ts';

const PULL_TYPE = 'kubernetes.io/dockerconfigjson';
const PULL_KEY = '.dockerconfigjson';

/** Undefined: the extension names no Secret. Empty: not found, not of the right type, or not for this proxy. */
export function pullSecretText(reader: ProxyReader, extension: Extension, written: string): string | undefined {
  const name = secretName(written);
  if (name === undefined) return undefined;
  if (name === '' || reader.identity() === undefined || !isAttachedTo(reader, extension)) return '';
  for (const cluster of new Set([reader.facet('clusterId'), reader.setting('clusterId')])) {
    const secret = reader.object('Secret', kubernetesKey(cluster, extension.namespace, name));
    const data = secret?.spec.type === PULL_TYPE ? secret.spec.data[PULL_KEY] : undefined;
    if (data !== undefined) return textOfBase64(data);
  }
  return '';
}

function isAttachedTo(reader: ProxyReader, extension: Extension): boolean {
  return subjectsOf(reader).some(subject => reader.get(extensionsOfProxy, subject).includes(extension));
}

/** The name of a Secret of the extension's namespace; '' for one that cannot exist; undefined: none is named. */
function secretName(written: string): string | undefined {
  if (written === '' || written.startsWith('builtin://')) return undefined;
  for (const scheme of ['configmap://', 'kubernetes-gateway://']) {
    if (written.startsWith(scheme)) return written.slice(scheme.length).includes('/') ? '' : undefined;
  }
  if (written.startsWith('invalid://')) return '';
  const path = written.startsWith(KUBERNETES) ? written.slice(KUBERNETES.length) : written;
  const [first = '', second] = path.split('/');
  return second ?? first;
}

const KUBERNETES = 'kubernetes://';
