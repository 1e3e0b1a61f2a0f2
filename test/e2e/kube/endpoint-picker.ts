// An endpoint picker of an InferencePool: a server of Envoy's ext_proc protocol in full duplex, as the Gateway API's
// inference extension demands it. It reads the whole body of a request, where the model stands, before it answers the
// headers with the endpoint of its choice, and lets responses pass.
//
// Source: Envoy api/envoy/service/ext_proc/v3/external_processor.proto; the Endpoint Picker Protocol of the inference
// extension (docs/proposals/004-endpoint-picker-protocol).

import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const PROTO = `
syntax = "proto3";
package picker;
message HttpHeaders { bool end_of_stream = 3; }
message HttpBody { bytes body = 1; bool end_of_stream = 2; }
message Request {
  HttpHeaders request_headers = 2;
  HttpHeaders response_headers = 3;
  HttpBody request_body = 4;
  HttpBody response_body = 5;
  HttpHeaders request_trailers = 6;
  HttpHeaders response_trailers = 7;
}
message Streamed { bytes body = 1; bool end_of_stream = 2; }
message BodyMutation { Streamed streamed_response = 3; }
message Common { BodyMutation body_mutation = 3; }
message Answer { Common response = 1; }
message Value { string string_value = 3; Struct struct_value = 5; }
message Struct { map<string, Value> fields = 1; }
message Response {
  Answer request_headers = 1;
  Answer response_headers = 2;
  Answer request_body = 3;
  Answer response_body = 4;
  Answer request_trailers = 5;
  Answer response_trailers = 6;
  Struct dynamic_metadata = 8;
}`;

const { root } = protobuf.parse(PROTO, { keepCase: false });
const requestType = root.lookupType('picker.Request');
const responseType = root.lookupType('picker.Response');

interface Part {
  readonly body?: Uint8Array;
  readonly endOfStream?: boolean;
}
type Side = 'request' | 'response';
type Request = Partial<Record<`${Side}${'Headers' | 'Body' | 'Trailers'}`, Part>>;
type Stream = ServerDuplexStream<Request, object>;

const service = {
  process: {
    path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
    requestStream: true,
    responseStream: true,
    requestSerialize: (value: object): Buffer => Buffer.from(requestType.encode(value).finish()),
    requestDeserialize: (bytes: Buffer): Request => requestType.toObject(requestType.decode(bytes)) as Request,
    responseSerialize: (value: object): Buffer => Buffer.from(responseType.encode(value).finish()),
    responseDeserialize: (bytes: Buffer): object => responseType.decode(bytes),
  },
} as const;

export interface EndpointPicker {
  readonly port: number;
  /** Bodies of the requests that it was asked about. */
  readonly asked: readonly string[];
  readonly stop: () => void;
}

/** `pick`: `address:port` for the body of a request. */
export async function startPicker(port: number, pick: (body: string) => string): Promise<EndpointPicker> {
  const asked: string[] = [];
  const server = new Server();
  server.addService(service, {
    process: (stream: Stream): void => {
      const chunks: Uint8Array[] = [];
      stream.on('data', (request: Request) => answer(stream, request, chunks, pick, asked));
      stream.on('error', () => undefined);
      stream.on('end', () => stream.end());
    },
  });
  await new Promise<void>((resolve, reject) => {
    const bound = (error: Error | null): void => (error === null ? resolve() : reject(error));
    server.bindAsync(`0.0.0.0:${port}`, ServerCredentials.createInsecure(), bound);
  });
  return { port, asked, stop: () => server.forceShutdown() };
}

function answer(
  stream: Stream,
  request: Request,
  chunks: Uint8Array[],
  pick: (body: string) => string,
  asked: string[],
): void {
  const { requestHeaders, requestBody, responseBody } = request;
  if (requestBody !== undefined) chunks.push(requestBody.body ?? new Uint8Array());
  const isComplete = requestHeaders?.endOfStream === true || requestBody?.endOfStream === true;
  if (isComplete) {
    const body = Buffer.concat(chunks);
    asked.push(body.toString('utf8'));
    stream.write({ requestHeaders: {}, dynamicMetadata: chosen(pick(body.toString('utf8'))) });
    if (requestBody !== undefined) stream.write({ requestBody: passed({ body, endOfStream: true }) });
  }
  if (request.requestTrailers !== undefined) stream.write({ requestTrailers: {} });
  if (request.responseHeaders !== undefined) stream.write({ responseHeaders: {} });
  if (responseBody !== undefined) stream.write({ responseBody: passed(responseBody) });
  if (request.responseTrailers !== undefined) stream.write({ responseTrailers: {} });
}

function passed(streamedResponse: Part): object {
  return { response: { bodyMutation: { streamedResponse } } };
}

function chosen(endpoint: string): object {
  const fields = { 'x-gateway-destination-endpoint': { stringValue: endpoint } };
  return { fields: { 'envoy.lb': { structValue: { fields } } } };
}
