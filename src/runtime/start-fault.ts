// Why the control plane cannot start, as a message for its operator: not a bug to report but something to change.

export class StartFault extends Error {
  override readonly name = 'StartFault';
}
