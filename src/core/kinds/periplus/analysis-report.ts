// AnalysisReport: what analyzers find about an object of Istio's, as an object of the source that analyses
// (docs/adr/0009), so that the status that is written from it follows from the journal alone. A report without messages
// stays as long as its object: it says that earlier messages are gone.
//
//     {apiVersion: periplus.internal/v1, kind: AnalysisReport,
//      metadata: {namespace: shop, name: virtualservice.reviews},
//      spec: {kind: VirtualService, name: reviews, generation: 3,
//             messages: [{code: IST0101, level: ERROR, documentationUrl: 'https://istio.io/…'}]}}

import type { JsonObject } from '../../base/json.ts';
import { kubernetesKind } from '../kubernetes/kubernetes-kind.ts';
import { ABOUT_API, nameAbout } from './about-object.ts';

export interface AnalysisReportData {
  readonly kind: string;
  readonly name: string;
  /** metadata.generation of the version that was analysed. */
  readonly generation: number;
  /** In the order of `periplus analyze`. */
  readonly messages: readonly ReportedMessage[];
}

/** A member of `status.validationMessages`. */
export interface ReportedMessage {
  readonly code: string;
  /** ERROR, WARNING or INFO. */
  readonly level: string;
  readonly documentationUrl: string;
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly AnalysisReport: { readonly spec: AnalysisReportData; readonly push: 'none' };
  }
}

const texts = (...names: readonly string[]) => names.map(name => ({ name, type: 'string' as const }));

export const analysisReport = kubernetesKind<'AnalysisReport', Decoded>({
  kind: 'AnalysisReport',
  group: 'periplus.internal',
  versions: ['v1'],
  push: 'none',
  messages: {
    Object: [{ name: 'spec', type: { message: 'Spec' } }],
    Spec: [
      ...texts('kind', 'name'),
      { name: 'generation', type: 'int32' },
      { name: 'messages', type: { message: 'Message' }, repeated: true },
    ],
    Message: texts('code', 'level', 'documentationUrl'),
  },
  flatten: ({ spec: { kind = '', name = '', generation = 0, messages = [] } = {} }) => ({
    ...{ kind, name, generation },
    messages: messages.map(message => ({ code: '', level: '', documentationUrl: '', ...message })),
  }),
});

interface Decoded {
  readonly spec?: Partial<Omit<AnalysisReportData, 'messages'>> & {
    readonly messages?: readonly Partial<ReportedMessage>[];
  };
}

/** The object as its source says it. */
export function reportObject(namespace: string, spec: AnalysisReportData): JsonObject {
  const metadata = { namespace, name: nameAbout(spec.kind, spec.name) };
  const messages = spec.messages.map(message => ({ ...message }));
  return { apiVersion: ABOUT_API, kind: 'AnalysisReport', metadata, spec: { ...spec, messages } };
}
