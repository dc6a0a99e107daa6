import { describe, it } from 'node:test'
import { StreamingToolExecutor } from 'signalbox'
import { describeExecutor } from 'signalbox/testing'

// stands for yours, which need not extend anything
class MyExecutor extends StreamingToolExecutor {}

describeExecutor((tools, canUseTool, context, options) => new MyExecutor(tools, canUseTool, context, options), {
  describe,
  it,
})
