import { type Message, type Model, query } from 'signalbox'
import { approvalAnswer, approvalRequest } from 'signalbox/openai'

/** Asks the host about each MCP call that the service wants to make, and continues with the answers. */
export async function answerApprovals(model: Model, transcript: readonly Message[], allow: (tool: string) => boolean) {
  const last = transcript.findLast((message) => message.type === 'assistant')
  const content = (last?.message.content ?? []).flatMap((block) => {
    const request = approvalRequest(block)
    return request === undefined ? [] : [approvalAnswer(block, { approve: allow(request.name ?? '') })]
  })
  return query({ messages: [...transcript, { role: 'user', content }], tools: [], model })
}
