import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { z } from 'zod'
import type {
  AnyTool,
  AssistantMessage,
  CanUseTool,
  ContentBlock,
  ExecutorWarning,
  MessageUpdate,
  OnProgress,
  PermissionAnswer,
  ProgressMessage,
  StreamingToolExecutor,
  ToolCallContext,
  WarningCode,
} from '../../src/index.ts'
import { flush, isResult, resultOf } from '../support/turn.ts'

export interface Outcome {
  readonly id: string
  readonly content: string | ContentBlock[]
  readonly isError: boolean
  readonly toolUseResult: unknown
}

export function outcomeOf(update: MessageUpdate): Outcome {
  const { tool_use_id: id, content, is_error } = resultOf(update)
  const { message } = update
  return { id, content, isError: is_error === true, toolUseResult: 'toolUseResult' in message && message.toolUseResult }
}

export const idsOf = (updates: readonly MessageUpdate[]): string[] =>
  updates.filter(isResult).map((update) => resultOf(update).tool_use_id)

/** The results that are ready after everything that can run has run. Never waits for a call that hangs. */
export async function outcomes(executor: StreamingToolExecutor): Promise<Outcome[]> {
  await flush()
  return [...executor.getCompletedResults()].filter(isResult).map(outcomeOf)
}

/** The result of a turn with exactly one. */
export async function onlyOutcome(executor: StreamingToolExecutor): Promise<Outcome> {
  const all = await outcomes(executor)
  expect(all).toHaveLength(1)
  return all[0] as Outcome
}

/** The text of a result, which must be a string that the API accepts. */
export function textOf({ content }: Outcome): string {
  if (typeof content !== 'string') throw new Error('the content is a list of blocks')
  expect(content.isWellFormed()).toBe(true)
  return content
}

export const progressOf = (updates: Iterable<MessageUpdate>): ProgressMessage[] =>
  [...updates].flatMap(({ message }) => (message.type === 'progress' ? [message] : []))

/** Every `tool_use` of the transcript is answered once, in the order of the transcript, and nothing else is. */
export function expectPaired({ message: { content } }: AssistantMessage, ids: readonly string[]): void {
  expect(ids).toEqual(content.filter(({ type }) => type === 'tool_use').map(({ id }) => id))
}

type Body = (
  input: Record<string, unknown>,
  context: ToolCallContext,
  canUseTool: unknown,
  message: AssistantMessage,
  onProgress: OnProgress,
) => unknown

/** Any value as a tool: a host without types may pass what the types forbid. */
export const roughTool = (name: string, call: Body, rest: { [Key in keyof AnyTool]?: unknown } = {}): AnyTool =>
  ({ name, inputSchema: z.looseObject({}), ...rest, call }) as unknown as AnyTool

export const done = async (): Promise<{ data: string }> => ({ data: 'done' })

export const never = (): Promise<never> => new Promise(() => undefined)

export const raise = (error: unknown): never => {
  throw error
}

export interface Question {
  readonly input: Record<string, unknown>
  readonly context: ToolCallContext
  answer(answer: unknown): void
  fail(error: unknown): void
}

/** A host that answers when the test decides. */
export function heldQuestions() {
  const asked: string[] = []
  const questions = new Map<string, Question>()
  const canUseTool: CanUseTool = (_tool, input, context, _message, id) =>
    new Promise<PermissionAnswer>((resolve, reject) => {
      asked.push(id)
      questions.set(id, { input, context, answer: (answer) => resolve(answer as PermissionAnswer), fail: reject })
    })
  return {
    canUseTool,
    asked,
    question(id: string): Question {
      const question = questions.get(id)
      if (question === undefined) throw new Error(`nobody was asked about ${id}`)
      return question
    },
  }
}

/** All warnings from now on. */
export function collectWarnings(executor: StreamingToolExecutor): {
  all: ExecutorWarning[]
  of(code: WarningCode): ExecutorWarning[]
} {
  const all: ExecutorWarning[] = []
  executor.on('warning', (warning) => all.push(warning))
  return { all, of: (code) => all.filter((warning) => warning.code === code) }
}

/** A chart that loops for ever fails its test instead of hanging the whole run. */
export function limitSteps({ actor }: StreamingToolExecutor, most: number): void {
  let steps = 0
  actor.system.inspect(({ type }) => {
    if (type === '@xstate.microstep' && ++steps > most) throw new Error(`the charts made more than ${most} steps`)
  })
}

/** For each test of the file: no unhandled rejection and no uncaught exception. */
export function expectNoStrays(): void {
  const strays: unknown[] = []
  const note = (error: unknown): void => void strays.push(error)
  beforeAll(() => {
    process.on('unhandledRejection', note)
    process.on('uncaughtException', note)
  })
  afterAll(() => {
    process.off('unhandledRejection', note)
    process.off('uncaughtException', note)
  })
  afterEach(async () => {
    await flush()
    expect(strays.splice(0)).toEqual([])
  })
}
