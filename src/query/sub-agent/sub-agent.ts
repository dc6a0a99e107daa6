import { z } from 'zod'
import { aFunction, checkOption } from '../../base/option-rules.ts'
import { isSignalboxError, SignalboxError } from '../../base/signalbox-error.ts'
import { answerAtOnce } from '../../base/when-settled.ts'
import type { ContentBlock, Message } from '../../messages/message.ts'
import { recordedCallOf, withoutCall } from '../../pipeline/recorded-call.ts'
import { defineTool } from '../../tool/define-tool.ts'
import type { Tool, ToolResult } from '../../tool/tool.ts'
import { checkOptions, type QueryOptions } from '../options.ts'
import { type Query, query } from '../query.ts'
import type { QueryMessage, QueryResult } from '../query-message.ts'
import { recordedAgentAccount } from '../spending.ts'
import { runAgentSession } from './agent-session.ts'

const inputSchema = z.object({
  description: z.string().optional().describe('The purpose of the task, in a few words'),
  prompt: z.string().describe('The whole task. The agent sees nothing else'),
})

export interface SubAgentOptions
  extends Pick<
    QueryOptions,
    | 'tools'
    | 'model'
    | 'fallbackModel'
    | 'retry'
    | 'system'
    | 'maxTurns'
    | 'limits'
    | 'loopGuard'
    | 'toolExecution'
    | 'executor'
    | 'prepareMessages'
  > {
  /** @default 'Agent' */
  name?: string | undefined
  description?: string | undefined
  /**
   * Whether the agent may run beside other safe calls. Set it only if none of its tools has side effects.
   * @default false
   */
  isConcurrencySafe?: boolean | undefined
  /**
   * Called with each query when it begins, to show or steer it. The returned function is called when the query has ended.
   *
   * @example
   * onQuery: (inner, { toolUseID, description }) => inspector.add(inner, { title: description, parentToolUseID: toolUseID })
   */
  onQuery?: ((query: Query, call: AgentCall) => (() => void) | void) | undefined
}

/** The call whose body is a query. */
export interface AgentCall {
  toolUseID: string
  /** The purpose in a few words if the model gave it, else the whole prompt. */
  description: string
}

export interface SubAgentReport {
  /** The agent's last text. */
  text: string
  reason: QueryResult['reason']
}

/**
 * A tool that is an agent: a query inside a call. Its messages appear outside as progress of the call, its permission
 * questions go to the host of the outer query, and an abort of the call ends it.
 *
 * @example
 * const explore = subAgent({ name: 'Explore', description: 'Looks things up', tools: [read], model })
 */
export function subAgent({
  name = 'Agent',
  description = 'Works on a task by itself and reports the result.',
  isConcurrencySafe = false,
  onQuery,
  ...options
}: SubAgentOptions): Tool<typeof inputSchema, SubAgentReport> {
  checkOption('onQuery', onQuery, aFunction)
  // here, where the host sees it: in the body of a call, the model would get the error
  checkOptions({ ...options, messages: '' })
  return defineTool({
    name,
    description,
    inputSchema,
    isAgent: true,
    isConcurrencySafe: () => isConcurrencySafe,
    interruptBehavior: () => 'cancel',
    describe: (input) => input.description ?? input.prompt,
    async call(input, callContext, canUseTool, _message, onProgress) {
      const { prompt, description = prompt } = input
      const { toolUseID, abortController } = callContext
      const context = withoutCall(callContext)
      const onMessage = (message: QueryMessage): void =>
        onProgress({ toolUseID: subjectOf(message) ?? toolUseID, data: message })
      const onRun = (run: Query): (() => void) => {
        const leave = answerAtOnce<unknown>(onQuery?.(run, { toolUseID, description }))
        return () => letGo(leave)
      }
      const recorded = recordedCallOf(callContext)
      const { result, transcript } =
        recorded === undefined
          ? await runQuery(query({ ...options, messages: prompt, canUseTool, context }), onMessage, onRun)
          : await runAgentSession(recorded, {
              ...{ options, prompt, canUseTool, context, controller: abortController },
              ...{
                onMessage,
                onRun,
                account: (session, isNew) => recordedAgentAccount(callContext, options, session, isNew),
              },
            })
      return reportOf(result, transcript, abortController.signal.aborted)
    },
    // its own log says how far it came
    recover: (_input, context) => (recordedCallOf(context) === undefined ? 'unknown' : 'again'),
    mapResult: ({ text, reason }, id) => ({ type: 'tool_result', tool_use_id: id, content: withReason(text, reason) }),
  })
}

async function runQuery(run: Query, onMessage: (message: QueryMessage) => void, onRun: (run: Query) => () => void) {
  const leave = onRun(run)
  try {
    for (;;) {
      const step = await run.next()
      if (step.done === true) return { result: step.value, transcript: run.transcript }
      onMessage(step.value)
    }
  } finally {
    leave()
  }
}

/** Calls the cleanup function of `onQuery`. If it throws, the result of the agent stays the same. */
function letGo(leave: unknown): void {
  try {
    if (typeof leave === 'function') answerAtOnce<unknown>(leave())
  } catch {
    // see above
  }
}

/** The inner call that a message is about. */
function subjectOf(message: QueryMessage): string | undefined {
  if (message.type === 'progress' || message.type === 'attachment') return message.toolUseID
  if (message.type !== 'user' && message.type !== 'assistant') return undefined
  const [block] = typeof message.message.content === 'string' ? [] : message.message.content
  if (block?.type === 'tool_use') return String(block.id)
  return block?.type === 'tool_result' ? String(block.tool_use_id) : undefined
}

/** If its call was aborted, the agent returns what it has so far. If it ended early for any other reason, it has failed. */
function reportOf(
  { reason, ...result }: QueryResult,
  transcript: readonly Message[],
  isStopped: boolean,
): ToolResult<SubAgentReport> {
  const report = { data: { text: lastWords(transcript, reason === 'completed'), reason } }
  if (isStopped) return { ...report, interrupted: reason !== 'completed' }
  const { error } = result as { error?: unknown }
  if (isSignalboxError(error) && error.code === 'journal_full')
    throw new SignalboxError(
      'journal_full',
      'The agent stopped because its log is full. Some of its calls may have taken effect. Check before you start another agent, and give it a smaller task.',
      { cause: error },
    )
  if (reason === 'model_error' || reason === 'journal_error') throw error
  if (reason === 'aborted_streaming' || reason === 'aborted_tools') {
    throw new SignalboxError('aborted', 'The agent was stopped before it finished.')
  }
  return report
}

/** The text of the last reply, which may be several messages. If the agent did not finish: of the last reply that has text. */
function lastWords(transcript: readonly Message[], isFinished: boolean): string {
  const last = transcript.findLast(
    (message) => message.type === 'assistant' && (isFinished || textsOf(message.message.content).length > 0),
  )
  if (last?.type !== 'assistant') return ''
  return transcript
    .flatMap((message) =>
      message.type === 'assistant' && message.message.id === last.message.id ? textsOf(message.message.content) : [],
    )
    .join('\n\n')
}

const textsOf = (content: readonly ContentBlock[]): string[] =>
  content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))

const withReason = (text: string, reason: SubAgentReport['reason']): string => {
  const said = text === '' ? 'The agent ended without a report.' : text
  return reason === 'completed' ? said : `${said}\n\n[The agent did not finish: ${reason}.]`
}
