/** A Signalbox tool that reports progress `count` times. */
export const reportingTool = ({ count, inputSchema }) => ({
  name: 'Report',
  inputSchema,
  async *call() {
    for (let n = 0; n < count; n++) yield { type: 'progress', data: n }
    yield { type: 'result', data: 'done' }
  },
})

export const reportingCall = { type: 'tool_use', id: 'toolu_0', name: 'Report', input: {} }
