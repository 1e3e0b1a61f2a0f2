// A position or name that the journal does not have; the message says which ones it has.

export class HistoryFault extends Error {
  override readonly name = 'HistoryFault';
  /** The request is malformed, independent of the journal. */
  readonly misuse: boolean;

  constructor(message: string, misuse = false) {
    super(message);
    this.misuse = misuse;
  }
}
