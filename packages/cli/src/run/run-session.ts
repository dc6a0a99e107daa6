import { hostname } from 'node:os'
import type { McpConnection } from '@signalbox/mcp'
import {
  type AnyTool,
  type BackgroundOrigin,
  type CanUseTool,
  createSession,
  type Hooks,
  type Limits,
  type Message,
  type Model,
  type ModelEvent,
  type ModelRetryMessage,
  type PermissionSettings,
  type Query,
  type QueryMessage,
  type QueryOptions,
  type Session,
} from 'signalbox'
import { createRecorder, type Frame, ShownRuns } from 'signalbox/inspect'
import type { InspectorServer } from 'signalbox/inspect/server'
import type { Io } from '../io.ts'
import { explainMissing } from '../sessions/stored-session.ts'
import { plainWord } from '../shell-word.ts'
import { usageError } from '../usage-error.ts'
import { nameOf } from '../view/call-view.ts'
import { cleanLine } from '../view/clean-text.ts'
import { wrap } from '../view/fit.ts'
import { SessionView } from '../view/session-view.ts'
import { agentTool } from './agent-tool.ts'
import { Chat, howToGoOn, type StoredSession } from './chat.ts'
import { CtrlC } from './ctrl-c.ts'
import { DetachKey } from './detach-key.ts'
import { endingOf, type SessionEnding } from './ending.ts'
import { FollowUp } from './follow-up.ts'
import { openKeyboard } from './keyboard.ts'
import { observeModel } from './observe-model.ts'
import { type Output, type OutputKind, openOutput } from './open-output.ts'
import type { OpenServers } from './open-servers.ts'
import { PermissionPrompts } from './permission-prompts.ts'
import type { RecordingFile } from './recording-file.ts'
import type { TranscriptFile } from './transcript-file.ts'
import { unattended } from './unattended.ts'
import { type Price, pricesFor, UsageCount } from './usage-count.ts'

export interface SessionOptions {
  /** Without one, a stored session is resumed. */
  readonly prompt?: string | undefined
  /** Keeps the session in a journal. */
  readonly stored?: StoredSession | undefined
  /** Earlier messages, if a transcript is continued. */
  readonly before?: readonly Message[] | undefined
  readonly model: Model
  readonly modelName: string
  readonly tools: readonly AnyTool[]
  /** Their tools are read again before each turn. */
  readonly openServers?: OpenServers | undefined
  /** The model and limits of agents; without it there is no Agent tool. */
  readonly agent?: { readonly model: Model; readonly maxTurns: number } | undefined
  readonly permissions: PermissionSettings
  readonly hooks?: Hooks | undefined
  /** The folder that the tools work in, for hooks. */
  readonly cwd?: string | undefined
  /** In a terminal, read further prompts after a run. */
  readonly isInteractive?: boolean | undefined
  /** For models whose prices are unknown. */
  readonly prices?: Readonly<Record<string, Price>> | undefined
  readonly system?: string | undefined
  readonly maxTurns?: number | undefined
  /** For all prompts together. */
  readonly limits?: Limits | undefined
  readonly output: OutputKind
  readonly transcript?: TranscriptFile | undefined
  /** The automatic transcript for --continue, which is not reported. */
  readonly sessionFile?: TranscriptFile | undefined
  readonly recording?: RecordingFile | undefined
  readonly inspector?: InspectorServer | undefined
  /** For demos: an unanswered prompt becomes yes, after this time in a terminal. */
  readonly yesAfterMs?: number | undefined
  /** Adds rules to the project's settings; returns the problem if that fails. */
  readonly keepRules?: ((rules: readonly string[]) => string | undefined) | undefined
}

/** Frames are lines of a file with a maximum length: more text per value means fewer values. */
const limits = { text: 10_000, nodes: 130 }

/** Runs one conversation, shows it, and writes its files. */
export async function runSession(options: SessionOptions, io: Io): Promise<SessionEnding> {
  const session = new SessionView()
  const begun = performance.now()
  const now = (): number => performance.now() - begun
  const { recording, inspector, prompt, stored } = options
  const transcript = options.transcript ?? options.sessionFile
  const usage = new UsageCount(options.prices)
  const followUp = new FollowUp(() => output.changed())

  /** While servers connect there is nothing to draw. */
  let isBegun = false
  const take = (frame: Frame): void => {
    session.take(frame)
    if (frame.type === 'questions' && !session.isOfAgent(frame))
      prompts.heed(new Set(frame.open.map(({ call }) => call)))
    recording?.take(frame)
    if (isBegun) output.changed()
  }
  const recorder = createRecorder({ onFrame: take, limits, progressGapMs: 0 })
  const agents = new ShownRuns()
  // only a recording needs them
  if (recording !== undefined) agents.begin(recorder)
  const prompts = new PermissionPrompts({
    session,
    changed: () => output.changed(),
    note: (text) => note(text),
    now,
    yesAfterMs: options.yesAfterMs,
    keep: options.keepRules,
    gone: options.stored && { behavior: 'later' },
  })
  const output: Output = openOutput(options.output, session, {
    io,
    now,
    footer: (canvas) => {
      const asked = prompts.lines(canvas)
      const hints = [...followUp.lines(canvas), ...hintLines(ctrlC.hint, canvas.columns)]
      return [...asked, ...(asked.length === 0 ? detachKey.lines(canvas) : []), ...hints]
    },
  })
  let turns = 0
  /** The number of the turn in the recording, where agents and servers have numbers too. */
  let turn = 0
  let leave = (): void => undefined
  const say = (by: Parameters<typeof recorder.say>[1], text: string): void => recorder.say(turn, by, text)

  const note = (text: string): void => {
    say('host', text)
    output.note(text)
  }
  const nameOfCall = (id: string): string | undefined => {
    const call = session.find(id)
    return call && nameOf(call)
  }
  const watch = (connection: McpConnection): void => {
    recorder.watch(connection)
    inspector?.add(connection)
  }
  const servers = await options.openServers?.(watch).catch((error: unknown) => {
    transcript?.close()
    recording?.close()
    throw error
  })
  const agentsTools = (): readonly AnyTool[] => [...options.tools, ...(servers?.tools() ?? [])]
  const agent =
    options.agent &&
    agentTool({
      ...options.agent,
      system: options.system,
      tools: agentsTools,
      canUseTool: (id) => askFor(id),
      onQuery: (inner, { toolUseID, description }) => {
        const as = { title: `Agent: ${firstLine(description)}, turn`, parentToolUseID: toolUseID }
        const [leavePage, leaveRecording] = [inspector?.add(inner, as), agents.add(inner, as)]
        return () => {
          leavePage?.()
          leaveRecording()
        }
      },
    })
  const allTools = (): readonly AnyTool[] => [...agentsTools(), ...(agent === undefined ? [] : [agent])]
  const runOptions: Omit<QueryOptions, 'messages'> = {
    tools: servers === undefined ? allTools() : allTools,
    model: observeModel(options.model, (event) => hear(event, say)),
    context: {
      permissions: options.permissions,
      ...(options.hooks !== undefined && { hooks: options.hooks }),
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(transcript !== undefined && { transcriptPath: transcript.path }),
    },
    system: options.system,
    maxTurns: options.maxTurns,
    ...(options.limits !== undefined && {
      limits: options.limits,
      prices: pricesFor(options.modelName, options.prices),
    }),
    canUseTool: (...question) => {
      if (keyboard !== undefined) return prompts.ask(...question)
      // a stored question can be answered from elsewhere
      return stored === undefined ? unattended(question, options, nameOfCall, note) : { behavior: 'later' }
    },
  }
  const show = (begun: Query): void => {
    inspector?.add(begun)
    // read before the calls are released
    begun.actor.subscribe((snapshot) => {
      session.isSuspended = snapshot.matches('suspending') || snapshot.matches('suspended')
    })
    begun.onExecutor((executor) => {
      transcript?.sync(begun.transcript)
      leave()
      const watch = recorder.watch(executor, { title: `turn ${++turns}`, queryActor: begun.actor })
      turn = watch.run
      leave = watch.leave
    })
  }
  const kept = await open(runOptions, options, io).catch(async (error: unknown) => {
    recording?.close()
    await servers?.close()
    throw error
  })
  kept.on('run_started', ({ run: begun }) => show(begun))
  // an answer may begin another run before the first has been read
  kept.on('run_ended', ({ result }) => usage.addRun(result.usage, options.modelName))
  const run = new Chat(kept, stored !== undefined)
  const askFor = (agent: string): CanUseTool =>
    keyboard === undefined
      ? (...question) => unattended(question, options, () => undefined, note)
      : prompts.askFor(agent)

  let pending: Message[] = []
  let replies = 0
  const detachKey = new DetachKey(session, nameOf, (id) => run.detach(id))
  const current = { interrupt: () => run.interrupt(), abort: (reason: unknown) => run.abort(reason) }
  const ctrlC = new CtrlC(current, () => {
    transcript?.syncBroken(run.transcript, pending)
    recording?.flush()
    letGo()
    io.exit(130)
  })
  const keyboard =
    output.kind === 'live'
      ? openKeyboard(io, (key) => {
          if (followUp.press(key)) return
          if (key.isCtrlC) ctrlC.press()
          else if (!prompts.press(key)) detachKey.press(key)
          output.changed()
        })
      : undefined
  let isTerminated = false
  const deafen = io.onSignal((signal) => {
    isTerminated ||= signal === 'SIGTERM'
    followUp.leave()
    if (signal === 'SIGTERM') ctrlC.abort()
    else ctrlC.press()
    // if nothing is drawn below the lines, it is one of them
    if (output.kind !== 'live' && ctrlC.hint !== '') note(ctrlC.hint)
    output.changed()
  })
  const letGo = (): void => {
    output.end()
    keyboard?.close()
    deafen()
  }

  isBegun = true
  if (prompt !== undefined) say('user', prompt)
  output.begin({
    model: options.modelName,
    tools: allTools().map(({ name }) => name),
    ...(prompt !== undefined && { prompt }),
    ...(stored !== undefined && { session: stored.id }),
  })
  try {
    run.begin(prompt)
    for (;;) {
      const step = await run.next()
      if (step.done === true) {
        transcript?.sync(run.transcript)
        leave()
        recording?.flush()
        if (recording?.problem !== undefined) note(`The recording is incomplete: ${recording.problem}`)
        const ending = endingOf(step.value, {
          session,
          turns: replies,
          isTerminated,
          now,
          usage: usage.total,
          transcript: options.transcript,
          recording,
          stored: stored && kept,
        })
        say('host', ending.words)
        if (stored !== undefined && session.isSuspended) {
          for (const line of howToGoOn(stored, kept.questions())) note(line)
        }
        output.finish(ending, run.transcript)
        const canGoOn =
          options.isInteractive === true && keyboard !== undefined && !isTerminated && !session.isSuspended
        const next = canGoOn ? await followUp.ask() : undefined
        if (next === undefined) return ending
        ctrlC.reset()
        pending = []
        say('user', next)
        run.begin(next)
        continue
      }
      const { value: message } = step
      if (isKept(message)) pending.push(message)
      if (message.type === 'system' && message.subtype === 'model_reply') {
        replies++
        recorder.reply(turn, message)
      }
      if (isRetry(message)) note(retryWords(message))
      if (message.type === 'system' && message.subtype === 'limit_warning') note(String(message.message))
      if (message.type === 'user' && message.background !== undefined)
        note(outcomeWords(message.background, nameOfCall))
      output.message(message)
    }
  } finally {
    letGo()
    await kept.close()
    transcript?.close()
    // a server may take some time to stop
    recording?.flush()
    await servers?.close()
    recording?.close()
  }
}

/** One session for all prompts. */
async function open(runs: Omit<QueryOptions, 'messages'>, options: SessionOptions, io: Io): Promise<Session> {
  const { prompt, stored, modelName, before = [] } = options
  if (options.limits?.costUsd !== undefined && !Object.hasOwn(runs.prices ?? {}, modelName)) {
    throw usageError(`--limit costUsd needs the price of ${modelName}. Set it in the settings, under "prices".`)
  }
  if (stored === undefined) return createSession({ ...runs, messages: [...before] })
  const { id, journals, mode, folder } = stored
  const { openSession } = await import('signalbox/durable')
  // shown to whoever finds it locked, or looks at it later
  const owner = `${io.env.USER ?? 'signalbox'}@${hostname()}`
  const session = await openSession({ ...runs, id, journals, mode, owner }).catch(explainMissing(id, folder))
  if (prompt !== undefined || session.status !== 'idle') return session
  await session.close()
  const place = `--journal ${plainWord(folder)} --session ${plainWord(id)}`
  throw usageError(
    `Session ${id} has nothing to resume: its last run has ended. Send it a prompt: signalbox run "<prompt>" ${place}`,
  )
}

function hear(event: ModelEvent, say: (by: 'model' | 'thought', text: string) => void): void {
  if (event.type !== 'content_block_delta') return
  const { delta } = event
  if (delta.type === 'text_delta') say('model', delta.text)
  else if (delta.type === 'thinking_delta') say('thought', delta.thinking)
}

const isKept = (message: QueryMessage): message is Message =>
  message.type === 'assistant' || message.type === 'user' || message.type === 'attachment'

const isRetry = (message: QueryMessage): message is ModelRetryMessage =>
  message.type === 'system' && message.subtype === 'model_retry'

function retryWords({ error, errorKind, delayMs }: ModelRetryMessage): string {
  const soon = delayMs > 0 ? ` in ${(delayMs / 1_000).toFixed(1)} s` : ''
  const [problem = ''] = error.replace(/^\w*Error: /, '').split('\n', 1)
  return `The model failed (${errorKind}: ${problem}). Retrying${soon}; its partial reply is dropped.`
}

const outcomes = {
  finished: 'has finished',
  failed: 'has failed',
  stopped: 'was stopped',
  unknown: 'has an unknown outcome',
} satisfies { [Status in BackgroundOrigin['status']]: string }

/** A call of an earlier process has no number here. */
function outcomeWords(
  { id, toolUseID, toolName, status }: BackgroundOrigin,
  nameOfCall: (id: string) => string | undefined,
): string {
  return `${nameOfCall(toolUseID) ?? cleanLine(toolName)} in the background (${id}) ${outcomes[status]}.`
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0]?.slice(0, 60) ?? ''

const hintLines = (hint: string, columns: number): string[] => (hint === '' ? [] : ['', ...wrap(hint, columns)])
