// Why the control plane cannot start, in words for whoever started it: nothing to report, something to change.

export class StartFault extends Error {
  override readonly name = 'StartFault';
}
