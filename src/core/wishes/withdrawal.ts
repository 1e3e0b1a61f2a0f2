// What Periplus writes into objects of others by managers of its own, taken back: the condition `Reconciled`, messages
// of analysis (an istiod clears only those that it found itself), and the generation that they name unless another
// manager owns it, too. Everything else that Periplus writes has istiod's form, field managers and names; an istiod
// keeps writing it.

import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { ANALYSIS_MANAGER } from './analysis-messages.ts';
import { DISTRIBUTION_MANAGER } from './distribution.ts';

const OURS: readonly unknown[] = [ANALYSIS_MANAGER, DISTRIBUTION_MANAGER];

/** The merge patch of the status; undefined: the object has nothing of Periplus. */
export function withdrawalOf({ metadata, status }: JsonObject): JsonObject | undefined {
  if (!isObject(status) || !isObject(metadata)) return undefined;
  const entries = statusEntries(metadata.managedFields);
  const gone = { ...withoutReconciled(entries, status), ...withoutMessages(entries, status) };
  if (Object.keys(gone).length === 0) return undefined;
  const isTheirs = entries.some(({ manager, fieldsV1 }) => !OURS.includes(manager) && says(fieldsV1, GENERATION));
  const left = { ...status, ...gone };
  const isBare = Object.entries(left).every(([name, value]) => value === null || name === GENERATION);
  const keepsGeneration = isTheirs && status[GENERATION] !== undefined;
  return {
    metadata: { resourceVersion: metadata.resourceVersion },
    // Without a status nothing of it has an owner.
    status: isBare && !keepsGeneration ? null : { ...gone, ...(isTheirs ? {} : { [GENERATION]: null }) },
  };
}

const GENERATION = 'observedGeneration';
const MESSAGES = 'validationMessages';

function withoutReconciled(entries: readonly JsonObject[], { conditions }: JsonObject): JsonObject {
  if (!Array.isArray(conditions) || !entries.some(({ manager }) => manager === DISTRIBUTION_MANAGER)) return {};
  const left = (conditions as readonly Json[]).filter(one => !isObject(one) || one.type !== 'Reconciled');
  if (left.length === conditions.length) return {};
  return { conditions: left.length === 0 ? null : left };
}

function withoutMessages(entries: readonly JsonObject[], status: JsonObject): JsonObject {
  const isOurs = entries.some(({ manager, fieldsV1 }) => manager === ANALYSIS_MANAGER && says(fieldsV1, MESSAGES));
  return isOurs && status[MESSAGES] !== undefined ? { [MESSAGES]: null } : {};
}

function statusEntries(managedFields: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(managedFields)) return [];
  return (managedFields as readonly Json[]).filter(isObject).filter(({ fieldsV1 }) => isObject(fieldsV1));
}

function says(fields: Json | undefined, member: string): boolean {
  const status = isObject(fields) ? fields['f:status'] : undefined;
  return isObject(status) && status[`f:${member}`] !== undefined;
}
