import { byName, PlainCall } from '../engine-parts/plain-call.mjs'
import { anthropicClient, anthropicOptions } from '../models/anthropic-client.mjs'

/** A hand-written loop on the client: read the stream, assemble the blocks, run everything at once. */
export const engine = {
  title: 'Plain loop on Anthropic',
  packages: ['@anthropic-ai/sdk'],
  scope: 'turn',
  gives: { order: 'calls', isExclusive: false, startsEarly: false, sideBySide: Infinity, validates: false },
  prepare({ tools, calls, pace }) {
    const client = anthropicClient(calls, pace)
    const toolByName = byName(tools)
    return async () => {
      const request = { ...anthropicOptions, messages: [{ role: 'user', content: 'go' }], stream: true }
      const blocks = await blocksOf(await client.messages.create(request))
      const started = blocks.map((block) => new PlainCall(block, toolByName.get(block.name)))
      await Promise.all(started.map((call) => call.run()))
      return { results: started.map(({ result }) => result) }
    }
  },
}

async function blocksOf(stream) {
  const blocks = []
  let json = ''
  for await (const event of stream) {
    if (event.type === 'content_block_start') {
      blocks.push(event.content_block)
      json = ''
    } else if (event.type === 'content_block_delta') json += event.delta.partial_json
    else if (event.type === 'content_block_stop') blocks.at(-1).input = JSON.parse(json)
  }
  return blocks
}
