// What is taken back of a status: the own condition and generation, never those of others.

import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { ANALYSIS_MANAGER } from '../../../../src/core/wishes/analysis-messages.ts';
import { DISTRIBUTION_MANAGER } from '../../../../src/core/wishes/distribution.ts';
import { withdrawalOf } from '../../../../src/core/wishes/withdrawal.ts';

const ours = { type: 'Reconciled', status: 'True', message: '1/1 proxies up to date.' };
const theirs = { type: 'Theirs', status: 'True' };

function withStatus(conditions: readonly JsonObject[], ...managers: readonly string[]): JsonObject {
  const fieldsV1 = { 'f:status': { 'f:observedGeneration': {} } };
  const managedFields = managers.map(manager => ({ manager, operation: 'Update', subresource: 'status', fieldsV1 }));
  return {
    metadata: { name: 'r', resourceVersion: '7', managedFields },
    status: { observedGeneration: 2, conditions },
  };
}

test('withdrawal: the condition and the generation that only Periplus says go', () => {
  expect(withdrawalOf(withStatus([ours], DISTRIBUTION_MANAGER))).toEqual({
    metadata: { resourceVersion: '7' },
    status: null,
  });
  const told = withStatus([ours], DISTRIBUTION_MANAGER);
  const status = { ...(told.status as JsonObject), validationMessages: [] };
  expect(withdrawalOf({ ...told, status })).toMatchObject({ status: { conditions: null, observedGeneration: null } });
});

test('withdrawal: conditions of others stay, and a generation that another manager says too', () => {
  expect(withdrawalOf(withStatus([theirs, ours], DISTRIBUTION_MANAGER, 'pilot-discovery'))).toEqual({
    metadata: { resourceVersion: '7' },
    status: { conditions: [theirs] },
  });
});

test('withdrawal: an object that Periplus did not write stays as it is, also if it has a condition of that name', () => {
  expect(withdrawalOf(withStatus([ours], 'another'))).toBeUndefined();
  expect(withdrawalOf(withStatus([theirs], DISTRIBUTION_MANAGER))).toBeUndefined();
  expect(withdrawalOf({ metadata: { name: 'r' } })).toBeUndefined();
});

test('withdrawal: messages of analysis go, unless another manager owns them by now', () => {
  const owns = (manager: string): JsonObject => {
    const fieldsV1 = { 'f:status': { 'f:observedGeneration': {}, 'f:validationMessages': {} } };
    return { manager, operation: 'Update', subresource: 'status', fieldsV1 };
  };
  const object = (managedFields: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
    metadata: { name: 'r', resourceVersion: '7', managedFields },
    status: { observedGeneration: 2, validationMessages: [{ level: 'ERROR' }], ...more },
  });
  expect(withdrawalOf(object([owns(ANALYSIS_MANAGER)]))).toMatchObject({ status: null });
  expect(withdrawalOf(object([owns('pilot-discovery')]))).toBeUndefined();
  const kept = { conditions: [theirs] };
  expect(withdrawalOf(object([owns(ANALYSIS_MANAGER)], kept))).toMatchObject({
    status: { validationMessages: null, observedGeneration: null },
  });
});
