/** Stands for the service: a `fetch` that streams the calls of a scenario as the Messages API does. */
export function fakeFetch(calls, clock) {
  const encoder = new TextEncoder()
  return async () => {
    const body = new ReadableStream({
      async start(controller) {
        const send = (event) =>
          controller.enqueue(encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
        send({
          type: 'message_start',
          message: {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: 'm',
            content: [],
            stop_reason: null,
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        })
        for (const [index, { id, name, endsAt }] of calls.entries()) {
          send({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } })
          await clock.until(endsAt)
          send({
            type: 'content_block_delta',
            index,
            delta: { type: 'input_json_delta', partial_json: `{"n":${index}}` },
          })
          send({ type: 'content_block_stop', index })
        }
        send({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } })
        send({ type: 'message_stop' })
        controller.close()
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
}
