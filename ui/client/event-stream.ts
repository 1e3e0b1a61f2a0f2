// The events of a `text/event-stream` response that was asked for by `fetch`, whose errors have a status and whose
// request can be a POST: EventSource has neither. Reads what our server writes: one line of `event`, one of `data`.

export interface StreamedEvent {
  readonly event: string;
  readonly data: string;
}

/** In their order; ends with the response. Comments are left out. */
export async function* eventsOf(response: Pick<Response, 'body'>): AsyncGenerator<StreamedEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let parts: string[] = [];
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    parts.push(read.value);
    if (!read.value.includes('\n')) continue;
    const blocks = parts.join('').split('\n\n');
    parts = [blocks.pop() ?? ''];
    for (const block of blocks) {
      const found = /^event: (.*)\ndata: (.*)$/.exec(block);
      if (found !== null) yield { event: found[1]!, data: found[2]! };
    }
  }
}
