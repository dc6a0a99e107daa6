import type { AbortCause, Opinion, PermissionMode, Reached, StopKind, TimeoutCause } from '../../machines/index.ts'

/** What an outcome says: to the model, and to user interfaces. */
export interface ResultText {
  readonly content: string
  readonly toolUseResult: string
}

const asError = (text: string): ResultText => ({
  content: `<tool_use_error>${text}</tool_use_error>`,
  toolUseResult: text,
})

const plain = (content: string, toolUseResult: string): ResultText => ({ content, toolUseResult })

const effectsStand = ' It had finished all the same: its effects stand.'

/** The executor's own words, all of them, in one place. */
export const resultTexts = {
  unknownTool: (name: string) => asError(`Error: No such tool available: ${name === '' ? '(no name)' : name}`),
  invalidInput: (problem: string) => asError(`InputValidationError: ${problem}`),
  unreadableArguments: (problem: string) =>
    asError(`InputValidationError: the arguments are not valid JSON, so the call did not run. ${problem}`),
  failedSilently: () => asError('The call failed and left no message.'),
  vetoed: (message: string) => asError(message),
  idClash: (id: string) =>
    asError(
      `Error: The id ${JSON.stringify(id)} was already used by another call of this turn, with another name or input. ` +
        'This call did not run; if it is still needed, ask again.',
    ),
  denied: (message: string) => asError(message),
  denialWithoutMessage: () => asError('Permission to use this tool was denied. The call did not run.'),
  nobodyToAsk: (name: string) =>
    asError(
      `Permission to use ${name} could not be asked for: nobody is there to answer (the host gave no canUseTool). The call did not run.`,
    ),
  askingFailed: (problem: string) => asError(`Permission could not be determined, so the call did not run. ${problem}`),
  deniedByRule: (name: string, rule: string) =>
    asError(`Permission to use ${name} was denied by the rule ${JSON.stringify(rule)}. The call did not run.`),
  deniedByMode: (name: string, mode: PermissionMode) =>
    asError(
      mode === 'plan'
        ? `${name} did not run: in plan mode only calls that change nothing may run.`
        : `${name} did not run: it would need somebody's permission, and in mode ${mode} nobody is asked.`,
    ),
  hookSaid: (decision: Opinion, hook: string) =>
    decision === 'deny' ? `The hook ${hook} denied this call. It did not run.` : `The hook ${hook} said ${decision}.`,
  hookStopped: (reason: string | undefined) =>
    `A hook ended the query before this call ran${reason === undefined ? '.' : `: ${reason}`}`,
  hookFailed: (hook: string, problem: string) =>
    `The call did not run, because the hook ${hook} that has to pass it failed: ${problem}`,
  changedInputUnfit: (by: string, problem: string) =>
    asError(`InputValidationError: the input was changed by ${by}, and no longer fits: ${problem}`),
  failed: (problem: string, attempts = 1) =>
    asError(attempts > 1 ? `${problem}\nIt was tried ${attempts} times.` : problem),
  timedOut: ({ limit, ms }: TimeoutCause, finished: boolean) =>
    asError(
      `Timeout: the call ${limit === 'idle' ? `made no progress for ${ms} ms` : `took longer than ${ms} ms`} and was stopped.` +
        (finished ? effectsStand : ' It may have done part of its work.'),
    ),
  unformattable: (problem: string) =>
    asError(`The tool ran to its end, but its result could not be put into words. ${problem}`),
  stored: ({ path, size, head, tail }: { path: string; size: number; head: string; tail: string }) =>
    `[The result has ${size} characters, too many to show. All of it is in ${path}; its beginning and its end follow.]\n\n${head}\n\n… ${Math.max(0, size - head.length - tail.length)} characters left out …\n\n${tail}`,
  notStored: (problem: string) => `[The rest could not be stored: ${problem}]`,
  noOutput: () => '(no output)',
  truncated: (shown: string, chars: number) =>
    `${shown}\n\n[Result cut: ${chars} characters of it are shown, the rest did not fit.]`,
} as const

/** The synthetic result of a call that somebody else ended. */
export function abortText(cause: AbortCause, reached: Reached): ResultText {
  const { content, toolUseResult } = abortTexts[cause.kind](cause, reached)
  if (reached !== 'finished') return { content, toolUseResult }
  const closing = '</tool_use_error>'
  return content.endsWith(closing)
    ? { content: content.slice(0, -closing.length) + effectsStand + closing, toolUseResult }
    : { content: content + effectsStand, toolUseResult }
}

const abortTexts = {
  streaming_fallback: () => asError('Error: Streaming fallback - tool execution discarded'),
  sibling_error: ({ description }: AbortCause) =>
    asError(
      description === undefined || description === ''
        ? 'Cancelled: parallel tool call errored'
        : `Cancelled: parallel tool call ${description} errored`,
    ),
  user_interrupted: (_cause: AbortCause, reached: Reached) => userTexts[reached],
  withdrawn: ({ description }: AbortCause) => asError(`This call did not run: ${description ?? 'it was withdrawn'}`),
} satisfies { [K in Exclude<StopKind, 'timeout'>]: (cause: AbortCause, reached: Reached) => ResultText }

const stoppedByUser = (what: string): ResultText =>
  plain(`${what} Wait for what they say next.`, 'User rejected tool use')

const userTexts = {
  notStarted: plain(
    'This call was cancelled before it started: the user stopped the turn. Wait for what they say next.',
    'Cancelled before it started',
  ),
  underWay: stoppedByUser('The user stopped this call, and nothing more was done for it.'),
  finished: stoppedByUser('The user stopped this call.'),
  abandoned: stoppedByUser(
    'The user stopped this call. It did not stop when it was told to, and may still be at work.',
  ),
} satisfies { [R in Reached]: ResultText }
