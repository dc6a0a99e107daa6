import { describe, it } from 'node:test'
import { StreamingToolExecutor } from 'signalbox'
import { describeExecutor } from 'signalbox/testing'

// a placeholder for your executor, which need not extend any class
class MyExecutor extends StreamingToolExecutor {}

describeExecutor((tools, canUseTool, context, options) => new MyExecutor(tools, canUseTool, context, options), {
  describe,
  it,
})
