// What only Periplus writes into objects of others, taken back: the condition `Reconciled`, and the generation that it
// names unless another manager owns it, too. Everything else that Periplus writes has istiod's form, field managers and
// names; an istiod keeps writing it.

import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { DISTRIBUTION_MANAGER } from './distribution.ts';

/** The merge patch of the status; undefined: the object has nothing of Periplus. */
export function withdrawalOf({ metadata, status }: JsonObject): JsonObject | undefined {
  if (!isObject(status) || !isObject(metadata) || !Array.isArray(status.conditions)) return undefined;
  const entries = statusEntries(metadata.managedFields);
  if (!entries.some(({ manager }) => manager === DISTRIBUTION_MANAGER)) return undefined;
  const conditions = (status.conditions as readonly Json[]).filter(one => !isObject(one) || one.type !== 'Reconciled');
  if (conditions.length === status.conditions.length) return undefined;
  const isTheirs = entries.some(
    ({ manager, fieldsV1 }) => manager !== DISTRIBUTION_MANAGER && saysGeneration(fieldsV1),
  );
  const { conditions: _, observedGeneration, ...others } = status;
  const isBare = conditions.length === 0 && Object.keys(others).length === 0;
  const keepsGeneration = isTheirs && observedGeneration !== undefined;
  return {
    metadata: { resourceVersion: metadata.resourceVersion },
    // Without a status nothing of it has an owner.
    status:
      isBare && !keepsGeneration
        ? null
        : {
            conditions: conditions.length === 0 ? null : conditions,
            ...(isTheirs ? {} : { observedGeneration: null }),
          },
  };
}

function statusEntries(managedFields: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(managedFields)) return [];
  return (managedFields as readonly Json[]).filter(isObject).filter(({ fieldsV1 }) => isObject(fieldsV1));
}

function saysGeneration(fields: Json | undefined): boolean {
  const status = isObject(fields) ? fields['f:status'] : undefined;
  return isObject(status) && status['f:observedGeneration'] !== undefined;
}
