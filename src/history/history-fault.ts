// A question that a history cannot answer: the message says why and what can be asked instead.

export class HistoryFault extends Error {
  override readonly name = 'HistoryFault';
  /** The question itself is none, whatever the history. */
  readonly misuse: boolean;

  constructor(message: string, misuse = false) {
    super(message);
    this.misuse = misuse;
  }
}
