// Messages of our own, for what istioctl does not say: input that cannot be read, objects that are given twice,
// policies that cannot be enforced. Their codes begin with PER; the texts are free to change, the codes are not.

import { message } from './wording.ts';

export const malformedInput = message('PER0001', 'MalformedInput', 'Error', (reason: string) => reason);
export const repeatedObject = message(
  'PER0002',
  'RepeatedObject',
  'Error',
  (place: string) => `The same object stands at ${place}, too. Only one of the two can be in force.`,
);
export const foreignKind = message('PER0003', 'ForeignKind', 'Info', (reason: string) => reason);
export const withoutEffectYet = message('PER0004', 'WithoutEffectYet', 'Warning', (reason: string) => reason);
export const danglingReference = message('PER0005', 'DanglingReference', 'Warning', (reason: string) => reason);
export const policyNotEnforceable = message('PER0006', 'PolicyNotEnforceable', 'Error', (reason: string) => reason);
export const patchWithoutEffect = message('PER0008', 'PatchWithoutEffect', 'Warning', (reason: string) => reason);
export const patchMatchesNothing = message('PER0009', 'PatchMatchesNothing', 'Warning', (reason: string) => reason);
export const patchLeftOut = message('PER0010', 'PatchLeftOut', 'Warning', (reason: string) => reason);
export const patchedResourceRefused = message(
  'PER0011',
  'PatchedResourceRefused',
  'Warning',
  (reason: string) => reason,
);
export const weakPolicy = message('PER0007', 'WeakPolicy', 'Warning', (reason: string) => reason);
export const settingWithoutEffect = message('PER0013', 'SettingWithoutEffect', 'Warning', (reason: string) => reason);
export const routeNotAttached = message('PER0012', 'RouteNotAttached', 'Warning', (reason: string) => reason);
/** A VirtualService that the guard keeps from traffic inside the mesh. */
export const hostGuarded = message('PER0014', 'HostGuarded', 'Error', (reason: string) => reason);
export const refusedChange = message('PER0015', 'RefusedChange', 'Error', (reason: string) => reason);
export const outage = message('PER0016', 'Outage', 'Warning', (reason: string) => reason);
export const notSupported = message('PER0017', 'NotSupported', 'Error', (reason: string) => reason);
export const actsDifferently = message('PER0018', 'ActsDifferently', 'Warning', (reason: string) => reason);
