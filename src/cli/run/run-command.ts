import { Command, InvalidArgumentError, Option } from 'commander'
import { permissionModes } from '../../../machines/index.ts'
import type { Model, PermissionMode } from '../../index.ts'
import { scriptedModel } from '../../scripted/index.ts'
import { exitCodesHelp } from '../exit-code.ts'
import { readPort } from '../inspect/inspect-command.ts'
import type { Io } from '../io.ts'
import { collect, readList } from '../lists.ts'
import type { Finish } from '../run-cli.ts'
import { defaultModel, loadModel } from './load-model.ts'
import { openInspector, stayOpen } from './open-inspector.ts'
import { openServers, readServers } from './open-servers.ts'
import { readScript } from './read-script.ts'
import { RecordingFile } from './recording-file.ts'
import { chooseTools, readBefore, readFolder, readPrompt } from './run-inputs.ts'
import { runSession } from './run-session.ts'
import { TranscriptFile } from './transcript-file.ts'

interface RunOptions {
  script?: string
  model: string
  maxTokens: number
  system?: string
  maxTurns?: number
  agentTurns: number
  cwd: string
  tools?: string[]
  allow?: string[]
  ask?: string[]
  deny?: string[]
  mcp?: string
  permissionMode: PermissionMode
  transcript?: string
  resume?: string
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
  signalbox run --allow 'Bash(npm test)' --permission-mode acceptEdits "Mend the test."
  signalbox run --script turns.json --transcript t.jsonl --record r.jsonl
  git diff | signalbox run --json -`

/** `signalbox run`: a prompt for a model, or a script that plays one, with the real tools. */
export const runCommand = (io: Io, finish: Finish): Command =>
  new Command('run')
    .summary('run a prompt, or a script of turns, with tools')
    .description(
      'Gives a prompt to a model that may use tools in a folder, and shows what happens: a line for each call while it waits, asks, runs and is held for order. A real model needs ANTHROPIC_API_KEY and @anthropic-ai/sdk; a script needs neither.',
    )
    .argument('[prompt...]', 'what to do; - reads it from standard input, which is also read where it is piped')
    .optionsGroup('The model:')
    .option('--script <file>', 'play these turns (.json, .jsonl) in place of a real model')
    .option('--model <name>', 'a model of Anthropic', defaultModel)
    .option('--max-tokens <number>', 'how long a reply may be', readCount, 16_384)
    .option('--system <text>', 'the system prompt')
    .option('--max-turns <number>', 'how many replies there may be', readCount)
    .option('--agent-turns <number>', 'how many replies an agent may have', readCount, 50)
    .optionsGroup('The tools:')
    .option('--cwd <folder>', 'the folder that the tools work in', '.')
    .option('--tools <names>', 'only these, such as Read,Grep; may be repeated', readList)
    .option('--allow <rule>', 'runs without a question; may be repeated', collect)
    .option('--ask <rule>', 'is always asked; may be repeated', collect)
    .option('--deny <rule>', 'never runs; may be repeated', collect)
    .option('--mcp <file>', 'also the tools of these MCP servers (.mcp.json)')
    .addOption(
      new Option('--permission-mode <mode>', 'what holds where no rule does')
        .choices(permissionModes)
        .default('default'),
    )
    .optionsGroup('What is kept:')
    .option('--transcript <file>', 'write the conversation there, a turn at a time (.jsonl)')
    .option('--resume <transcript>', 'go on with this conversation, and in this file')
    .option('--record <file>', 'record what the charts do, for replay and inspect (.jsonl)')
    .optionsGroup('What is shown:')
    .option('--json', 'one JSON object per line, and nothing else')
    .option('--quiet', 'nothing but the last words of the model')
    .option('--inspect', 'open the inspector in the browser as well')
    .option('--port <number>', 'with --inspect: listen there', readPort)
    .addHelpText('after', `${examples}\n${exitCodesHelp}`)
    .action(async (words: string[], options: RunOptions, command: Command) => {
      if (options.json === true && options.quiet === true) command.error('error: --json and --quiet exclude each other')
      finish(await run(words, options, io))
    })

async function run(words: readonly string[], options: RunOptions, io: Io): Promise<number> {
  const script = options.script === undefined ? undefined : readScript(options.script)
  const prompt = await readPrompt(words, script === undefined ? undefined : (script.prompt ?? 'Play the script.'), io)
  const before = options.resume === undefined ? [] : readBefore(options.resume, options.transcript !== undefined)
  const root = readFolder(options.cwd)
  const model: Model =
    script === undefined ? await loadModel(options.model, options.maxTokens, io) : scriptedModel(script.turns, script)
  const servers = options.mcp === undefined ? undefined : await readServers(options.mcp, io)
  const { createTools } = await import('../../tools/index.ts')
  const set = createTools({ root })
  const agentModel = script === undefined ? model : script.agent && scriptedModel(script.agent, script)
  try {
    const { tools, withAgent } = chooseTools(set, options.tools, agentModel !== undefined)
    const inspector = options.inspect === true ? await openInspector(options.port, io) : undefined
    const { exitCode } = await runSession(
      {
        prompt,
        before,
        model,
        modelName: script === undefined ? options.model : 'script',
        tools,
        agent: withAgent && agentModel !== undefined ? { model: agentModel, maxTurns: options.agentTurns } : undefined,
        openServers: servers && ((watch) => openServers(servers, watch, (text) => io.stderr.write(text))),
        permissions: readPermissions(options),
        system: options.system ?? (script === undefined ? systemFor(root) : undefined),
        maxTurns: options.maxTurns,
        output: options.json === true ? 'json' : options.quiet === true ? 'quiet' : 'auto',
        ...openFiles(options, before.length),
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

const readPermissions = ({ permissionMode, allow, ask, deny }: RunOptions) => ({
  mode: permissionMode,
  allow,
  ask,
  deny,
})

const systemFor = (root: string): string =>
  `You work with tools in the folder ${root} on ${process.platform}. Today is ${new Date().toDateString()}. Ask for calls that do not depend on each other at once: they run side by side.`

function readCount(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It wants a whole number from 1.')
  return count
}
