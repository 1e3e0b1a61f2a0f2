// A question that a history cannot answer: the message says why and what can be asked instead.

export class HistoryFault extends Error {
  override readonly name = 'HistoryFault';
}
