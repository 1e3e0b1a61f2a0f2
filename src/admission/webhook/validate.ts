// The verdict on an object that is about to be stored: the same decoding and rules by which the core accepts objects,
// so that what passes here is served, and what the core refuses never gets in.
// Source: Istio pkg/webhooks/validation/server/server.go (validate), steps and messages.

import { unreachableWarnings, validationWarnings } from '../../analysis/validation-warnings.ts';
import { isObject, type Json } from '../../core/base/json.ts';
import { showProblem } from '../../core/base/problem.ts';
import { judge } from '../../core/fold/record.ts';
import type { KindDefinition } from '../../core/kinds/definition.ts';
import { definitions } from '../../core/kinds/registry.ts';
import type { AdmissionRequest } from './review.ts';

export interface Verdict {
  readonly allowed: boolean;
  readonly message?: string;
  readonly warnings?: readonly string[];
  /** The label `reason` of galley_validation_failed; absent: passed. */
  readonly reason?: string;
}

/** Warnings of one answer, far more than an API server shows: 4,096 characters of them. */
export const WARNINGS_MAX = 100;

const ALWAYS_REJECT = 'internal.istio.io/webhook-always-reject';
const DRY_RUN = 'istio.io/dry-run';
const MEMBERS: readonly string[] = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];
/** Groups of configuration; versions of a kind have one schema and are not told apart. */
const GROUPS = /(^|\.)(istio\.io|gateway\.networking\.k8s\.io|gateway\.networking\.x-k8s\.io)$/;

export function verdictOn(request: AdmissionRequest): Verdict {
  const { operation, object } = request;
  if (operation !== 'CREATE' && operation !== 'UPDATE') return { allowed: true, reason: 'unsupported_operation' };
  if (!isObject(object)) return refused('yaml_decode_error', 'cannot decode configuration: expected an object');
  const definition = definitionFor(object.apiVersion, object.kind);
  if (definition === undefined) {
    return refused('unknown_type', `unrecognized type ${String(object.apiVersion)}, Kind=${String(object.kind)}`);
  }
  // The version that the rules are written for; the API server has converted between versions that differ.
  const apiVersion = `${definition.group}/${definition.versions[0] ?? ''}`;
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const annotations = isObject(metadata.annotations) ? metadata.annotations : {};
  const invalid = (...reasons: readonly string[]): Verdict =>
    refused('invalid_resource', `configuration is invalid: ${allOf(reasons)}`);
  if (Object.hasOwn(annotations, ALWAYS_REJECT)) return invalid('always rejected by webhook');
  const unknown = Object.keys(object).find(member => !MEMBERS.includes(member));
  if (unknown !== undefined) {
    const shown = `${request.namespace}/${String(metadata.name ?? '')}`;
    return refused('invalid_resource', `unknown field "${unknown}" on ${String(object.kind)} resource ${shown}`);
  }
  // A name that the API server is going to make is none of the object's.
  const name = metadata.name ?? (metadata.generateName === undefined ? undefined : 'generated');
  const judged = judge(definition, {
    source: 'admission/',
    seq: 0,
    object: { ...object, apiVersion, metadata: { ...metadata, name } },
  });
  if (judged.outcome !== 'accepted') return invalid(...judged.problems.map(showProblem));
  if (Object.hasOwn(annotations, DRY_RUN) && definition.kind !== 'AuthorizationPolicy') {
    return invalid(`annotation ${DRY_RUN} is only allowed on AuthorizationPolicy`);
  }
  const { notYet } = definition;
  const unused = notYet === undefined ? [] : [`${definition.kind}: ${notYet}`];
  const warnings = [...validationWarnings(judged.object), ...unreachableWarnings(judged.object), ...unused];
  return { allowed: true, ...(warnings.length === 0 ? {} : { warnings: firstOf(warnings) }) };
}

function firstOf(warnings: readonly string[]): readonly string[] {
  if (warnings.length <= WARNINGS_MAX) return warnings;
  return [...warnings.slice(0, WARNINGS_MAX), `and ${warnings.length - WARNINGS_MAX} more`];
}

/** Every reason on a line of its own, as Go's multierror writes them: `kubectl` shows the text as it is. */
function allOf(reasons: readonly string[]): string {
  const count = reasons.length === 1 ? '1 error' : `${reasons.length} errors`;
  return `${count} occurred:\n${reasons.map(reason => `\t* ${reason}\n`).join('')}\n`;
}

function refused(reason: string, message: string): Verdict {
  return { allowed: false, reason, message };
}

function definitionFor(apiVersion: Json | undefined, kind: Json | undefined): KindDefinition | undefined {
  const group = typeof apiVersion === 'string' ? apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/'))) : '';
  if (!GROUPS.test(group)) return undefined;
  const all: readonly KindDefinition[] = Object.values(definitions) as readonly KindDefinition[];
  return all.find(one => one.group === group && (one.objectKind ?? one.kind) === kind);
}
