const encoder = new TextEncoder()
const usage = { input_tokens: 1, output_tokens: 1 }
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'mock',
  content: [],
  stop_reason: null,
  usage,
}

const frame = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** A stand-in for the Messages API: a `fetch` whose response requests the calls, streamed or whole. */
export function messagesApi(calls, pace) {
  const head = frame({ type: 'message_start', message })
  const blocks = calls.map(blockFrames)
  const tail =
    frame({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } }) +
    frame({ type: 'message_stop' })
  const streamed = head + blocks.map(({ begin, rest }) => begin + rest).join('') + tail
  const whole = JSON.stringify({ ...message, content: calls, stop_reason: 'tool_use' })
  const paced = () =>
    new ReadableStream({
      async start(controller) {
        const send = (text) => controller.enqueue(encoder.encode(text))
        send(head)
        for (const [n, { begin, rest }] of blocks.entries()) {
          send(begin)
          await pace.until(n)
          pace.ended(n)
          send(rest)
        }
        pace.over()
        send(tail)
        controller.close()
      },
    })
  return async (_url, { body }) =>
    body.includes('"stream":true')
      ? new Response(pace ? paced() : streamed, { headers: { 'content-type': 'text/event-stream' } })
      : new Response(whole, { headers: { 'content-type': 'application/json' } })
}

function blockFrames({ id, name, input }, index) {
  const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) }
  return {
    begin: frame({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } }),
    rest: frame({ type: 'content_block_delta', index, delta }) + frame({ type: 'content_block_stop', index }),
  }
}
