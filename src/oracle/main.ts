// The entry `periplus/oracle`: what would Envoy do with this connection? For invariants of your own mesh:
// docs/guides/oracle.md.

export type { Socket } from './address.ts';
export { explain, showOutcome } from './explain.ts';
export type { CapturePorts } from './listener.ts';
export { type Oracle, oracleOf } from './oracle.ts';
export type {
  Answered,
  Branch,
  ChosenEndpoint,
  Closed,
  Forwarded,
  Mirror,
  Outcome,
  Prediction,
  Stage,
  Step,
  Stuck,
  Transport,
  Unknown,
  Verdict,
} from './prediction.ts';
export type { Arrival, AuthorizerAnswer, Connection, HttpRequest, ProxyConfig, TlsHello, Token } from './question.ts';
