import type {
  AnyTool,
  Hooks,
  Limits,
  Message,
  Model,
  ModelEvent,
  ModelReplyMessage,
  PermissionSettings,
  QueryMessage,
  QueryOptions,
  QueryResult,
} from 'signalbox'
import type { Frame } from 'signalbox/inspect'
import type { InspectorServer } from 'signalbox/inspect/server'
import type { Io } from '../io.ts'
import { usageError } from '../usage-error.ts'
import { SessionView } from '../view/session-view.ts'
import { agentTool } from './agent-tool.ts'
import { Chat, howToGoOn, type StoredSession } from './chat.ts'
import { Controls } from './controls.ts'
import { endingOf, type SessionEnding } from './ending.ts'
import { noteOf } from './message-notes.ts'
import { observeModel } from './observe-model.ts'
import { openKeptSession } from './open-kept-session.ts'
import { type Output, type OutputKind, openOutput } from './open-output.ts'
import type { OpenServers } from './open-servers.ts'
import type { RecordingFile } from './recording-file.ts'
import { RunWatch } from './run-watch.ts'
import type { TranscriptFile } from './transcript-file.ts'
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

/** Runs one conversation, shows it, and writes its files. */
export async function runSession(options: SessionOptions, io: Io): Promise<SessionEnding> {
  const { recording, inspector, prompt, stored } = options
  const transcript = options.transcript ?? options.sessionFile
  const session = new SessionView()
  const begun = performance.now()
  const now = (): number => performance.now() - begun
  /** While servers connect there is nothing to draw. */
  let isBegun = false
  const onFrame = (frame: Frame): void => {
    session.take(frame)
    if (frame.type === 'questions' && !session.isOfAgent(frame))
      controls.prompts.heed(new Set(frame.open.map(({ call }) => call)))
    recording?.take(frame)
    if (isBegun) output.changed()
  }
  const watch = new RunWatch({ onFrame, inspector, isRecorded: recording !== undefined })
  const note = (text: string): void => {
    watch.say('host', text)
    output.note(text)
  }
  const controls = new Controls({
    session,
    io,
    now,
    note,
    changed: () => output.changed(),
    yesAfterMs: options.yesAfterMs,
    keep: options.keepRules,
    isStored: stored !== undefined,
    gone: stored && { behavior: 'later' },
    exit: () => {
      transcript?.syncBroken(run.transcript, pending)
      recording?.flush()
      letGo()
      io.exit(130)
    },
  })
  const output: Output = openOutput(options.output, session, { io, now, footer: (canvas) => controls.lines(canvas) })
  const letGo = (): void => {
    output.end()
    controls.close()
  }

  const servers = await options
    .openServers?.((connection) => watch.server(connection))
    .catch((error: unknown) => {
      transcript?.close()
      recording?.close()
      throw error
    })
  const toolsNow = toolsOf(options, () => servers?.tools() ?? [], controls, watch)
  const tools = servers === undefined ? toolsNow() : toolsNow
  const open = async () => openKeptSession(queryOptionsOf(options, tools, controls, watch), options, io)
  const kept = await open().catch(async (error: unknown) => {
    recording?.close()
    await servers?.close()
    throw error
  })
  const usage = new UsageCount(options.prices)
  kept.on('run_started', ({ run: query }) => {
    // read before the calls are released
    query.actor.subscribe((snapshot) => {
      session.isSuspended = snapshot.matches('suspending') || snapshot.matches('suspended')
    })
    watch.query(query, () => transcript?.sync(query.transcript))
  })
  // an answer may begin another run before the first has been read
  kept.on('run_ended', ({ result }) => usage.addRun(result.usage, options.modelName))
  const run = new Chat(kept, stored !== undefined)
  /** What the transcript does not have yet. */
  let pending: Message[] = []
  let replies = 0
  controls.open(run, output.kind === 'live')

  const show = (message: QueryMessage): void => {
    if (isKept(message)) pending.push(message)
    if (isReply(message)) {
      replies++
      watch.reply(message)
    }
    const line = noteOf(message, session)
    if (line !== undefined) note(line)
    output.message(message)
  }
  const finish = (result: QueryResult): SessionEnding => {
    transcript?.sync(run.transcript)
    watch.leave()
    recording?.flush()
    if (recording?.problem !== undefined) note(`The recording is incomplete: ${recording.problem}`)
    const { isTerminated } = controls
    const files = { transcript: options.transcript, recording, stored: stored && kept }
    const ending = endingOf(result, { session, turns: replies, isTerminated, now, usage: usage.total, ...files })
    watch.say('host', ending.words)
    if (stored !== undefined && session.isSuspended) howToGoOn(stored, kept.questions()).forEach(note)
    output.finish(ending, run.transcript)
    return ending
  }

  isBegun = true
  if (prompt !== undefined) watch.say('user', prompt)
  output.begin({
    model: options.modelName,
    tools: toolsNow().map(({ name }) => name),
    ...(prompt !== undefined && { prompt }),
    ...(stored !== undefined && { session: stored.id }),
  })
  try {
    for (let text = prompt; ; ) {
      run.begin(text)
      const ending = finish(await readRun(run, show))
      const mayGoOn = options.isInteractive === true && controls.hasKeyboard
      if (!mayGoOn || controls.isTerminated || session.isSuspended) return ending
      text = await controls.nextPrompt()
      if (text === undefined) return ending
      pending = []
      watch.say('user', text)
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

/** The tools as they are now, with the Agent tool: an agent gets all others. */
function toolsOf(
  { tools, agent, system }: SessionOptions,
  ofServers: () => readonly AnyTool[],
  controls: Controls,
  watch: RunWatch,
): () => readonly AnyTool[] {
  const others = (): readonly AnyTool[] => [...tools, ...ofServers()]
  if (agent === undefined) return others
  const canUseTool = (id: string) => controls.canUseToolOf(id)
  const made = agentTool({ ...agent, system, tools: others, canUseTool, onQuery: watch.agent })
  return () => [...others(), made]
}

function queryOptionsOf(
  options: SessionOptions,
  tools: QueryOptions['tools'],
  { canUseTool }: Controls,
  { say }: RunWatch,
): Omit<QueryOptions, 'messages'> {
  const { hooks, cwd, limits, modelName } = options
  const transcript = options.transcript ?? options.sessionFile
  const prices = pricesFor(modelName, options.prices)
  if (limits?.costUsd !== undefined && !Object.hasOwn(prices, modelName)) {
    throw usageError(`--limit costUsd needs the price of ${modelName}. Set it in the settings, under "prices".`)
  }
  return {
    tools,
    model: observeModel(options.model, (event) => hear(event, say)),
    context: {
      permissions: options.permissions,
      ...(hooks !== undefined && { hooks }),
      ...(cwd !== undefined && { cwd }),
      ...(transcript !== undefined && { transcriptPath: transcript.path }),
    },
    system: options.system,
    maxTurns: options.maxTurns,
    ...(limits !== undefined && { limits, prices }),
    canUseTool,
  }
}

async function readRun(run: Chat, show: (message: QueryMessage) => void): Promise<QueryResult> {
  for (;;) {
    const step = await run.next()
    if (step.done === true) return step.value
    show(step.value)
  }
}

function hear(event: ModelEvent, say: RunWatch['say']): void {
  if (event.type !== 'content_block_delta') return
  const { delta } = event
  if (delta.type === 'text_delta') say('model', delta.text)
  else if (delta.type === 'thinking_delta') say('thought', delta.thinking)
}

const isKept = (message: QueryMessage): message is Message =>
  message.type === 'assistant' || message.type === 'user' || message.type === 'attachment'

const isReply = (message: QueryMessage): message is ModelReplyMessage =>
  message.type === 'system' && message.subtype === 'model_reply'
