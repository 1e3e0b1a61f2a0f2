// Where requests for a backend go, or the fault that keeps them from it. With a soft error both are there: the share of
// the backend fails, and the rule stays.

import type { Destination } from '../../schema/istio-types.gen.ts';
import type { ConfigError } from './config-error.ts';
import type { EndpointPicker } from './endpoint-picker.ts';

export interface BackendDestination {
  /** Undefined: the error is hard. */
  readonly destination: Destination | undefined;
  readonly error: ConfigError | undefined;
  /** Of an InferencePool. */
  readonly picker?: EndpointPicker;
}
