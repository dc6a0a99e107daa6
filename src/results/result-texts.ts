import type {
  AbortCause,
  BodyEnd,
  PermissionMode,
  PermissionVerdict,
  Reached,
  StopKind,
  TimeoutCause,
} from '../../machines/index.ts'

/** The text of an outcome: for the model, and for user interfaces. */
export interface ResultText {
  readonly content: string
  readonly toolUseResult: string
}

const asError = (text: string): ResultText => ({
  content: `<tool_use_error>${text}</tool_use_error>`,
  toolUseResult: text,
})

const plain = (content: string, toolUseResult: string): ResultText => ({ content, toolUseResult })

const effectsOf = {
  finished: ' It had already finished, so its effects remain.',
  cutShort: ' It was stopped before it finished; the effects it had until then remain.',
  returned: ' It returned after it was told to stop. It may have done all or part of its work.',
  notStarted: ' It had not begun.',
} satisfies { [End in BodyEnd]?: string }

const withOutput = (output: string | undefined): string =>
  output === undefined ? '' : `\nIts output so far:\n${output}`

interface Stored {
  readonly path: string
  readonly size: number
  readonly head: string
  readonly tail: string
}

const previewOf = ({ path, size, head, tail }: Stored): string =>
  `The whole result is in ${path}; its beginning and end follow.]\n\n${head}\n\n… ${Math.max(0, size - head.length - tail.length)} characters left out …\n\n${tail}`

/** All texts that the executor writes for the model. */
export const resultTexts = {
  unknownTool: (name: string) => asError(`Error: No such tool available: ${name === '' ? '(no name)' : name}`),
  invalidInput: (problem: string) => asError(`InputValidationError: ${problem}`),
  unreadableArguments: (problem: string) =>
    asError(`InputValidationError: the arguments are not valid JSON, so the call did not run. ${problem}`),
  failedSilently: () => asError('The call failed without an error message.'),
  vetoed: (message: string) => asError(message),
  idClash: (id: string) =>
    asError(
      `Error: The id ${JSON.stringify(id)} was already used by another call of this turn, with another name or input. ` +
        'This call did not run. If you still need it, make the call again.',
    ),
  denied: (message: string) => asError(message),
  denialWithoutMessage: () => asError('Permission to use this tool was denied. The call did not run.'),
  nobodyToAsk: (name: string) =>
    asError(
      `Permission to use ${name} was denied: no permission rule allows it, and the host cannot ask a user (it passed no canUseTool). The call did not run.`,
    ),
  nobodyAnswersLater: (name: string) =>
    asError(`${name} did not run: its permission answer was deferred, and in batch mode nobody can answer later.`),
  waitsForItself: (by: string) =>
    `${by} added this call and waits for it, but it can only start after that call ends. Make this call after that one.`,
  waitsInCircle: (holders: readonly string[]) =>
    `the files or other resources that it needs are in use by ${holders.join(', ')}, which waits for the call around this one. Try again later, or continue without it.`,
  askingFailed: (problem: string) => asError(`Permission could not be determined, so the call did not run. ${problem}`),
  deniedByRule: (name: string, rule: string) =>
    asError(`Permission to use ${name} was denied by the rule ${JSON.stringify(rule)}. The call did not run.`),
  deniedByMode: (name: string, mode: PermissionMode) =>
    asError(
      mode === 'plan'
        ? `${name} did not run: in plan mode only read-only calls may run.`
        : `${name} did not run: it needs permission, and in mode ${mode} nobody is asked.`,
    ),
  deniedByLoop: (name: string, repeats: number) =>
    asError(
      `${name} did not run: the same input has had the same result ${repeats} times in a row, so another time would not help. Use that result, change the input, or try something else.`,
    ),
  repeats: (repeats: number) => `The same call has had the same result ${repeats} times in a row.`,
  hookSaid: (decision: PermissionVerdict, hook: string) =>
    decision === 'deny'
      ? `The hook ${hook} denied this call. It did not run.`
      : `The hook ${hook} decided ${decision}.`,
  hookStopped: (reason: string | undefined) =>
    `A hook ended the query before this call ran${reason === undefined ? '.' : `: ${reason}`}`,
  hookFailed: (hook: string, problem: string) =>
    `The call did not run, because the hook ${hook}, which must approve it, failed: ${problem}`,
  changedInputUnfit: (by: string, problem: string) =>
    asError(`InputValidationError: ${by} changed the input, and it no longer matches the schema: ${problem}`),
  failed: (problem: string, attempts = 1) =>
    asError(attempts > 1 ? `${problem}\nIt was tried ${attempts} times.` : problem),
  timedOut: ({ limit, ms }: TimeoutCause, end: BodyEnd, output?: string) =>
    asError(
      `Timeout: the call ${limit === 'idle' ? `made no progress for ${ms} ms` : `took longer than ${ms} ms`} and was stopped.` +
        (end === 'failed' ? ' It may have done part of its work.' : effectsOf[end]) +
        withOutput(output),
    ),
  limitReached: () => 'This call did not run: the limit on the number of calls is reached. No further call will run.',
  notRecorded: () => asError('The call did not run: it could not be recorded.'),
  unknownOutcome: () =>
    asError(
      'The process stopped while this call was running. It may or may not have taken effect. Check before you try again.',
    ),
  inBackground: (id: string, note: string | undefined) =>
    `Running in the background as ${id}. You will get its result when it is done; do not guess it.${note === undefined || note === '' ? '' : `\n${note}`}`.toWellFormed(),
  unformattable: (problem: string) => asError(`The tool finished, but its result could not be formatted. ${problem}`),
  stored: (stored: Stored) => `[The result has ${stored.size} characters, too many to show. ${previewOf(stored)}`,
  storedUnread: (stored: Stored) =>
    `[The result has ${stored.size} characters and was stored because too many results were waiting. ${previewOf(stored)}`,
  notStored: (problem: string) => `[The rest could not be stored: ${problem}]`,
  noOutput: () => '(no output)',
  truncated: (shown: string, chars: number) => `${shown}\n\n[Result truncated: only ${chars} characters are shown.]`,
} as const

/** The synthetic result of a call that was ended from outside. */
export function abortText(cause: AbortCause, reached: Reached, output?: string): ResultText {
  const { content, toolUseResult } = abortTexts[cause.kind](cause, reached)
  if (reached === 'notStarted' || reached === 'underWay' || reached === 'abandoned') return { content, toolUseResult }
  const more = effectsOf[reached] + withOutput(output)
  const closing = '</tool_use_error>'
  return content.endsWith(closing)
    ? { content: content.slice(0, -closing.length) + more + closing, toolUseResult }
    : { content: content + more, toolUseResult }
}

/** The outcome of a background call that was stopped: by the model, the host, or an abort. */
export function stoppedText(_cause: AbortCause, reached: Reached, output?: string): ResultText {
  if (reached === 'abandoned') return asError('It was stopped, did not end when told to, and may still be running.')
  const effects = reached === 'notStarted' || reached === 'underWay' ? '' : effectsOf[reached]
  return asError(`It was stopped.${effects}${withOutput(output)}`)
}

const abortTexts = {
  streaming_fallback: () => asError('Error: Streaming fallback - tool execution discarded'),
  sibling_error: ({ description }: AbortCause) =>
    asError(
      description === undefined || description === ''
        ? 'Cancelled: parallel tool call errored'
        : `Cancelled: parallel tool call ${description} errored`,
    ),
  user_interrupted: ({ reason }: AbortCause, reached: Reached) =>
    reason === 'limit' ? limitTexts[reached] : userTexts[reached],
  withdrawn: ({ description }: AbortCause) => asError(`This call did not run: ${description ?? 'it was withdrawn'}`),
} satisfies { [K in Exclude<StopKind, 'timeout'>]: (cause: AbortCause, reached: Reached) => ResultText }

const stoppedByUser = (what: string): ResultText =>
  plain(`${what} Wait for the next message from the user.`, 'User rejected tool use')

const userTexts = {
  notStarted: plain(
    'This call was cancelled before it started: the user stopped the turn. Wait for the next message from the user.',
    'Cancelled before it started',
  ),
  underWay: stoppedByUser('The user stopped this call, and nothing more was done.'),
  cutShort: stoppedByUser('The user stopped this call.'),
  returned: stoppedByUser('The user stopped this call.'),
  finished: stoppedByUser('The user stopped this call.'),
  abandoned: stoppedByUser('The user stopped this call. It did not stop when told to, and may still be running.'),
} satisfies { [R in Reached]: ResultText }

const stoppedByLimit = (what: string): ResultText =>
  plain(`${what} The time limit of the session is reached.`, 'Stopped by a limit')

const limitTexts = {
  notStarted: stoppedByLimit('This call was cancelled before it started.'),
  underWay: stoppedByLimit('This call was stopped, and nothing more was done.'),
  cutShort: stoppedByLimit('This call was stopped.'),
  returned: stoppedByLimit('This call was stopped.'),
  finished: stoppedByLimit('This call was stopped.'),
  abandoned: stoppedByLimit('This call was stopped. It did not stop when told to, and may still be running.'),
} satisfies { [R in Reached]: ResultText }
