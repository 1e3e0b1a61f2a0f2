// Conditions as statuses of the Gateway API have them, without times: those come when they are written.

import type { JsonObject } from '../../base/json.ts';
import type { Obj } from '../../model/object.ts';
import { type ConfigError, configError } from '../../translate/gateway-api/config-error.ts';

export interface Condition {
  readonly type: string;
  readonly error: ConfigError | undefined;
  /** Reason and message while there is no error. */
  readonly sound: ConfigError;
  /** The condition is False while all is well. */
  readonly inverted?: true;
}

export function condition(type: string, error: ConfigError | undefined, reason: string, message: string): Condition {
  return { type, error, sound: configError(reason, message) };
}

/** In the order of their types. */
export function conditionsJson(
  generation: number | undefined,
  conditions: readonly Condition[],
): readonly JsonObject[] {
  const sorted = [...conditions].sort((a, b) => (a.type < b.type ? -1 : 1));
  return sorted.map(({ type, error, sound, inverted }) => {
    const isTrue = (error === undefined) !== (inverted === true);
    const { reason, message } = error ?? sound;
    return { type, status: isTrue ? 'True' : 'False', ...observed(generation), reason, message };
  });
}

function observed(generation: number | undefined): JsonObject {
  return generation ? { observedGeneration: generation } : {};
}

export function generationOf({ generation }: Obj): number | undefined {
  return generation;
}
