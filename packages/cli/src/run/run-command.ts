import type { McpServerConfig } from '@signalbox/mcp'
import { Command, Option } from 'commander'
import type { Limits, Model, PermissionMode } from 'signalbox'
import { permissionModes } from 'signalbox/machines'
import { scriptedModel } from 'signalbox/scripted'
import { exitCodesHelp } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { readCount, readLimit, readList, readPort, readRule } from '../option-values.ts'
import type { Finish } from '../run-cli.ts'
import { newSession, storedSession } from '../sessions/stored-session.ts'
import { keepRules } from '../settings/keep-rules.ts'
import { type LoadedSettings, loadSettings } from '../settings/load-settings.ts'
import { placesFor } from '../settings/places.ts'
import { askTrust } from '../settings/trust.ts'
import type { StoredSession } from './chat.ts'
import { checkGivenRules } from './check-given-rules.ts'
import { defaultModel, loadModel } from './load-model.ts'
import { openInspector, stayOpen } from './open-inspector.ts'
import { openServers, readServers } from './open-servers.ts'
import { optionsAgain } from './options-again.ts'
import { projectInstructions } from './project-instructions.ts'
import { readScript, type ScriptFile } from './read-script.ts'
import { RecordingFile } from './recording-file.ts'
import { chooseTools, readBefore, readFolder, readPrompt } from './run-inputs.ts'
import { runSession } from './run-session.ts'
import { lastSessionFile, newSessionFile } from './session-files.ts'
import { TranscriptFile } from './transcript-file.ts'

interface RunOptions {
  journal?: string
  session?: string
  script?: string
  model?: string
  maxTokens: number
  system?: string
  maxTurns?: number
  limit?: Limits
  agentTurns: number
  cwd: string
  tools?: string[]
  allow?: string[]
  ask?: string[]
  deny?: string[]
  mcp?: string
  permissionMode?: PermissionMode
  transcript?: string
  resume?: string | undefined
  continue?: boolean
  interactive?: boolean
  trust?: boolean
  record?: string
  inspect?: boolean
  port?: number
  json?: boolean
  quiet?: boolean
}

const examples = `
Rules say what may run, such as Read, Edit(src/**) or Bash(npm run *). Whatever
no rule, tool or mode decides is asked in the terminal; without one it is denied.

Ctrl+C once interrupts, twice stops everything, three times leaves at once. The
transcript is valid after each.

Examples:
  signalbox run "Why does the test fail?"
  signalbox run --allow 'Bash(npm test)' --permission-mode acceptEdits "Fix the test."
  signalbox run --script turns.json --transcript t.jsonl --record r.jsonl
  git diff | signalbox run "Review this."
  signalbox run --continue "And the tests?"

Settings are read from ~/.signalbox/settings.json and .signalbox/settings.json of\nthe folder; AGENTS.md is read too.`

/** `signalbox run`: runs a prompt with a model, or plays a script, with the real tools. */
export const runCommand = (io: Io, finish: Finish): Command =>
  withOutput(
    withModelAndTools(
      new Command('run')
        .summary('run a prompt, or a script of turns, with tools')
        .description(
          'Runs a prompt with a model that may use tools in a folder, and shows one line per call: waiting, asking, running, held for order. A real model needs ANTHROPIC_API_KEY and @anthropic-ai/sdk; a script needs neither.',
        )
        .argument('[prompt...]', 'the prompt; - reads it from standard input (piped input is read too)'),
    )
      .optionsGroup('Files:')
      .option('--continue', 'continue the last conversation in this folder')
      .option('--transcript <file>', 'write the conversation to this file, turn by turn (.jsonl)')
      .option('--resume <transcript>', 'continue this conversation, and append to its file')
      .option('--journal <folder>', 'keep the session in this folder, so that it survives its process')
      .option('--session <id>', 'with --journal: the id of the session, new or stored (default: a random id)'),
  )
    .addHelpText('after', `${examples}\n${exitCodesHelp}`)
    .action(async (words: string[], options: RunOptions, command: Command) => {
      if (options.continue === true && options.resume !== undefined)
        command.error('error: --continue and --resume cannot be combined')
      checkOutput(options, command)
      const { journal, session, transcript, resume } = options
      if (session !== undefined && journal === undefined) command.error('error: --session needs --journal')
      if (journal !== undefined && (options.continue === true || transcript !== undefined || resume !== undefined))
        command.error('error: --journal keeps the conversation: it cannot be combined with a transcript')
      const stored = journal === undefined ? undefined : await newSession(journal, session)
      const promptOf = (script: ScriptFile | undefined): Promise<string> =>
        readPrompt(words, script === undefined ? undefined : (script.prompt ?? 'Play the script.'), io)
      finish(await run(promptOf, stored, options, io))
    })

/** `signalbox resume`: resumes a stored session. */
export const resumeCommand = (io: Io, finish: Finish): Command =>
  withOutput(
    withModelAndTools(
      new Command('resume')
        .summary('resume a stored session')
        .description(
          'Opens a session that signalbox run --journal has stored, resumes its run, and shows it as run does. Give it the same model, tools and rules.',
        )
        .argument('<id>', 'the session, as signalbox sessions shows it'),
    )
      .optionsGroup('Files:')
      .requiredOption('--journal <folder>', 'the folder of the session'),
  )
    .addHelpText('after', exitCodesHelp)
    .action(async (id: string, options: RunOptions & { journal: string }, command: Command) => {
      checkOutput(options, command)
      finish(await run(async () => undefined, await storedSession(options.journal, id, 'resume'), options, io))
    })

function checkOutput({ json, quiet }: RunOptions, command: Command): void {
  if (json === true && quiet === true) command.error('error: --json and --quiet cannot be combined')
}

const withModelAndTools = (command: Command): Command =>
  command
    .optionsGroup('The model:')
    .option('--script <file>', 'play these turns (.json, .jsonl) instead of a real model')
    .option('--model <name>', `an Anthropic model (default: from the settings, else ${defaultModel})`)
    .option('--max-tokens <number>', 'maximum length of a reply', readCount, 16_384)
    .option('--system <text>', 'the system prompt')
    .option('--max-turns <number>', 'maximum number of replies', readCount)
    .option(
      '--limit <name=number>',
      'a limit on the conversation with all its agents, such as calls=100 or costUsd=2; may be repeated',
      readLimit,
    )
    .option('--agent-turns <number>', 'maximum number of replies of an agent', readCount, 50)
    .optionsGroup('The tools:')
    .option('--cwd <folder>', 'the folder that the tools work in', '.')
    .option('--tools <names>', 'use only these tools, such as Read,Grep; may be repeated', readList)
    .option('--allow <rule>', 'calls that run without asking; may be repeated', readRule)
    .option('--ask <rule>', 'calls that always need an answer; may be repeated', readRule)
    .option('--deny <rule>', 'calls that never run; may be repeated', readRule)
    .option('--mcp <file>', 'also use the tools of these MCP servers (.mcp.json)')
    .addOption(
      new Option('--permission-mode <mode>', 'the mode if no rule matches (default: from the settings)').choices(
        permissionModes,
      ),
    )
    .option('--trust', 'trust the current .signalbox/settings.json of this project')

const withOutput = (command: Command): Command =>
  command
    .option('--record <file>', 'record the run for replay and inspect (.jsonl)')
    .optionsGroup('Output:')
    .option('--interactive', 'in a terminal, take further prompts (the default with a real model)')
    .option('--no-interactive', 'end after the first prompt')
    .option('--json', 'print one JSON object per line, and nothing else')
    .option('--quiet', 'print only the last text of the model')
    .option('--inspect', 'also open the inspector in the browser')
    .option('--port <number>', 'with --inspect: the port to listen on', readPort)

async function run(
  promptOf: (script: ScriptFile | undefined) => Promise<string | undefined>,
  stored: StoredSession | undefined,
  options: RunOptions,
  io: Io,
): Promise<number> {
  const script = options.script === undefined ? undefined : readScript(options.script)
  const prompt = await promptOf(script)
  const root = readFolder(options.cwd)
  const places = placesFor(root, io)
  const resume = options.continue === true ? lastSessionFile(places, root) : options.resume
  const keepsFile = stored === undefined && options.transcript === undefined && resume === undefined
  const before = resume === undefined ? [] : readBefore(resume, options.transcript !== undefined)
  const settings = await loadSettings(places, { cwd: root, env: io.env }, askTrust(io, options.trust === true))
  const modelName = options.model ?? settings.model ?? defaultModel
  const model: Model =
    script === undefined ? await loadModel(modelName, options.maxTokens, io) : scriptedModel(script.turns, script)
  const servers = await allServers(settings, options.mcp, io)
  const { createTools } = await import('@signalbox/tools')
  const set = createTools({ root })
  const agentModel = script === undefined ? model : script.agent && scriptedModel(script.agent, script)
  try {
    const warn = (text: string): void => void io.stderr.write(text)
    checkGivenRules(settings, set.tools, warn, (rule) => `${settings.whereIs(rule)}: `)
    checkGivenRules(options, set.tools, warn)
    const { tools, withAgent } = chooseTools(set, options.tools, agentModel !== undefined)
    const inspector = options.inspect === true ? await openInspector(options.port, io) : undefined
    const { exitCode } = await runSession(
      {
        prompt,
        stored: stored && { ...stored, options: optionsAgain(options) },
        before,
        model,
        modelName: script === undefined ? modelName : 'script',
        tools,
        agent: withAgent && agentModel !== undefined ? { model: agentModel, maxTurns: options.agentTurns } : undefined,
        openServers: servers && ((watch) => openServers(servers, watch, (text) => io.stderr.write(text))),
        permissions: readPermissions(options, settings),
        hooks: settings.hooks,
        cwd: root,
        isInteractive: options.interactive ?? script === undefined,
        prices: settings.prices,
        keepRules: (rules) => keepRules(places, rules),
        system: systemFor(root, options.system, script === undefined),
        maxTurns: options.maxTurns,
        limits: options.limit,
        output: options.json === true ? 'json' : options.quiet === true ? 'quiet' : 'auto',
        ...openFiles({ ...options, resume }, before.length),
        ...(keepsFile && { sessionFile: newSessionFile(places, root) }),
        inspector,
      },
      io,
    )
    await stayOpen(inspector, io)
    return exitCode
  } finally {
    await set.close()
  }
}

function openFiles(options: RunOptions, before: number): { transcript?: TranscriptFile; recording?: RecordingFile } {
  const transcript = openTranscript(options, before)
  try {
    const recording = options.record === undefined ? undefined : new RecordingFile(options.record)
    return { ...(transcript !== undefined && { transcript }), ...(recording !== undefined && { recording }) }
  } catch (error) {
    transcript?.close()
    throw error
  }
}

function openTranscript({ transcript, resume }: RunOptions, before: number): TranscriptFile | undefined {
  if (transcript !== undefined) return new TranscriptFile(transcript)
  return resume === undefined ? undefined : new TranscriptFile(resume, before)
}

/** The command line overrides: its mode wins, and its rules are added. */
const readPermissions = (options: RunOptions, settings: LoadedSettings) => ({
  mode: options.permissionMode ?? settings.mode ?? 'default',
  allow: [...settings.allow, ...(options.allow ?? [])],
  ask: [...settings.ask, ...(options.ask ?? [])],
  deny: [...settings.deny, ...(options.deny ?? [])],
})

/** Servers of the settings and of --mcp, which wins for the same name. */
async function allServers(
  { servers }: LoadedSettings,
  path: string | undefined,
  io: Io,
): Promise<Record<string, McpServerConfig> | undefined> {
  if (servers.length === 0 && path === undefined) return undefined
  const { parseMcpConfig } = await import('@signalbox/mcp')
  const own = servers.map(({ path: file, mcpServers }) => parseMcpConfig(JSON.stringify({ mcpServers }), file, io.env))
  return Object.assign({}, ...own, path === undefined ? {} : await readServers(path, io))
}

function systemFor(root: string, given: string | undefined, isReal: boolean): string | undefined {
  const parts = [given ?? (isReal ? introduction(root) : undefined), projectInstructions(root)]
  return parts.filter((part) => part !== undefined).join('\n\n') || undefined
}

const introduction = (root: string): string =>
  `You work with tools in the folder ${root} on ${process.platform}. Today is ${new Date().toDateString()}. Make independent calls in the same reply: they run in parallel.`
