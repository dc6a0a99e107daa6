type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

const newline = 10
const carriageReturn = 13

/** The same fetch, with responses that fail if one message exceeds the byte limit. */
export function boundedFetch(inner: Fetch, maxBytes: number): Fetch {
  return async (url, init) => {
    const response = await inner(url, init)
    if (response.body === null) return response
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(limiter(maxBytes, isStream)), { status, statusText, headers })
  }
}

/** In an event stream the limit applies to each event, which is buffered until it is complete. */
function limiter(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  let lineLength = 0
  const countEvents = (bytes: Uint8Array): void => {
    for (const byte of bytes) {
      size++
      if (byte === newline) {
        // an empty line ends an event
        if (lineLength === 0) size = 0
        lineLength = 0
      } else if (byte !== carriageReturn) lineLength++
      if (size > maxBytes) return
    }
  }
  return new TransformStream({
    transform(bytes, controller) {
      if (isStream) countEvents(bytes)
      else size += bytes.length
      if (size > maxBytes) throw new Error(`the server sent a message of more than ${maxBytes} bytes`)
      controller.enqueue(bytes)
    },
  })
}
