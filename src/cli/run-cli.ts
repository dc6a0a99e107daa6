import { statSync } from 'node:fs'
import process from 'node:process'
import { serveInspector } from '../inspect-server/index.ts'
import { readServeArguments } from './read-serve-arguments.ts'
import { replayCommand, replayHelp } from './replay-command.ts'

const help = `signalbox inspect [recording]

  Opens the inspector on this machine and prints its address. With a recording (.jsonl) it shows that; without one, drop
  a recording onto the page.

  --coverage FILE   how often a test suite took each transition, as heat on the charts
  --port NUMBER   listen there; any free port otherwise

signalbox mcp-serve

  Offers the tools of Signalbox (Read, Edit, Bash, …) as an MCP server, over stdio unless --http is given. What no rule
  allows, the client is asked about.

  --root FOLDER   what the tools may work in; the working directory otherwise
  --tools A,B     only these tools
  --allow RULE    what may run without asking, such as 'Bash(npm test)'; may be repeated, as may --ask and --deny
  --mode MODE     default, acceptEdits, plan, dontAsk or bypassPermissions
  --http          over streamable HTTP, with --port, --host (127.0.0.1) and --token (or the variable SIGNALBOX_MCP_TOKEN,
                  which other users of the machine cannot see)
  --inspect       opens the inspector beside it

  --help          this text

${replayHelp}`

/** The command line. Gives back the exit code; with a server running, once that is stopped. */
export async function runCli(
  args: readonly string[],
  print: (text: string) => void = (text) => process.stdout.write(text),
  stopped: Promise<unknown> = new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve)),
): Promise<number> {
  const [command, ...rest] = args
  if (command === undefined || rest.includes('--help') || command === '--help' || command === '-h') {
    print(help)
    return 0
  }
  if (command === 'mcp-serve') return serveTools(rest, print, stopped)
  if (command === 'replay') return replayCommand(rest, print)
  if (command !== 'inspect') return fail(print, `There is no command ${command}.`)
  const given = readArguments(rest)
  if (typeof given === 'string') return fail(print, given)
  const server = await serveInspector([], { ...given, keepsProcess: true }).catch((error: Error) => error)
  if (server instanceof Error) return fail(print, server.message)
  print(`The inspector is at ${server.url}\nCtrl+C ends it.\n`)
  await stopped
  await server.close()
  return 0
}

/** Loaded when it is asked for: it needs packages that only its users install. */
async function serveTools(
  args: readonly string[],
  print: (text: string) => void,
  stopped: Promise<unknown>,
): Promise<number> {
  const options = readServeArguments(args)
  if (typeof options === 'string') return fail(print, options)
  try {
    const { mcpServe } = await import('./mcp-serve.ts')
    return await mcpServe(options, stopped)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

interface Given {
  recording?: string
  coverage?: string
  port?: number
}

function readArguments(args: readonly string[]): Given | string {
  const options: Given = {}
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === '--port') {
      const port = Number(args[++at])
      if (!Number.isInteger(port) || port < 0 || port > 65_535) return '--port wants a port number.'
      options.port = port
    } else if (word === '--coverage') {
      const file = args[++at]
      if (file === undefined) return '--coverage wants a file.'
      options.coverage = file
    } else if (word.startsWith('-')) return `There is no option ${word}.`
    else if (options.recording !== undefined) return 'One recording at a time.'
    else options.recording = word
  }
  const missing = [options.recording, options.coverage].find((file) => file !== undefined && !isFile(file))
  return missing === undefined ? options : `There is no file ${missing}.`
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function fail(print: (text: string) => void, problem: string): number {
  print(`${problem}\n\n${help}`)
  return 2
}
