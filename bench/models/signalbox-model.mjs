/** A Signalbox model that requests the calls and ends. */
export function signalboxModel(calls, pace) {
  const blocks = calls.map(({ id, name, input }, index) => ({
    begin: { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
    delta: {
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    },
    end: { type: 'content_block_stop', index },
  }))
  const message = { id: 'msg_1', model: 'mock', usage: { input_tokens: 1, output_tokens: 1 } }
  return async function* reply() {
    yield { type: 'message_start', message }
    for (const [n, { begin, delta, end }] of blocks.entries()) {
      yield begin
      if (pace) await pace.until(n)
      yield delta
      pace?.ended(n)
      yield end
    }
    pace?.over()
    yield { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } }
    yield { type: 'message_stop' }
  }
}
