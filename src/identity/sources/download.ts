// One GET of a small document of the outside: bounded in time and bytes, which are counted as they come.

const FETCH_MS_MAX = 10_000;
const ANSWER_BYTES_MAX = 1024 * 1024;

/** Rejects with why there is no body. Redirects are followed, but never from https to http. */
export async function download(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS_MAX) }).catch((error: unknown) => {
    throw new Error(reasonOf(error));
  });
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  if (url.startsWith('https:') && !response.url.startsWith('https:')) throw new Error(`${url}: redirected to http`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`${url}: the answer is larger than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** With the cause: the address, the connection or the certificate. */
function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error ? `${message}: ${cause.message || cause.name}` : message;
}
