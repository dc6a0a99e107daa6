import { statSync } from 'node:fs'
import process from 'node:process'
import { serveInspector } from '../inspect-server/index.ts'

const help = `signalbox inspect [recording]

  Opens the inspector on this machine and prints its address. With a recording (.jsonl) it shows that; without one, drop
  a recording onto the page.

  --coverage FILE   how often a test suite took each transition, as heat on the charts
  --port NUMBER     listen there; any free port otherwise
  --help            this text
`

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
