// The entry `periplus/oracle`: what would Envoy do with this connection? For invariants of your own mesh:
// docs/guides/oracle.md.
//
// The import is cheap: the model itself needs no generator. heldIn, which does, loads them when it is called. The entry
// stands outside of src/oracle/, which imports nothing of ours.

export type { MeshTexts } from './offline/held.ts';
export { heldIn } from './offline/held-in.ts';
export type { Socket } from './oracle/address.ts';
export { explain, showOutcome } from './oracle/explain.ts';
export type { CapturePorts } from './oracle/listener.ts';
export { type Oracle, oracleOf } from './oracle/oracle.ts';
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
} from './oracle/prediction.ts';
export type {
  Arrival,
  AuthorizerAnswer,
  Connection,
  HttpRequest,
  ProxyConfig,
  TlsHello,
  Token,
} from './oracle/question.ts';
