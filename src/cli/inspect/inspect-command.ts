import { statSync } from 'node:fs'
import { Command, InvalidArgumentError } from 'commander'
import { type Io, untilStopped } from '../io.ts'
import { usageError } from '../usage-error.ts'

/** `signalbox inspect`: the inspector in the browser, with a recording or waiting for one. */
export const inspectCommand = (io: Io): Command =>
  new Command('inspect')
    .summary('open the inspector in the browser')
    .description(
      'Serves the inspector on this machine and prints its address. With a recording it shows that; without one, drop a recording onto the page.',
    )
    .argument('[recording]', 'a recording (.jsonl), such as one of signalbox run --record')
    .option('--coverage <file>', 'how often a test suite took each transition, as heat on the charts')
    .option('--port <number>', 'listen there; any free port otherwise', readPort)
    .addHelpText('after', '\nExample:\n  signalbox inspect turn.jsonl')
    .action(async (recording: string | undefined, { port, coverage }: { port?: number; coverage?: string }) => {
      for (const file of [recording, coverage]) {
        if (file !== undefined && !isFile(file)) throw usageError(`There is no file ${file}.`)
      }
      const { serveInspector } = await import('../../inspect-server/index.ts')
      const server = await serveInspector([], { recording, coverage, port, keepsProcess: true }).catch(
        (error: Error) => {
          throw usageError(`The inspector cannot listen: ${error.message}`, error)
        },
      )
      const stopped = untilStopped(io)
      io.stdout.write(`The inspector is at ${server.url}\nCtrl+C ends it.\n`)
      await stopped
      await server.close()
    })

export function readPort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('It wants a port number, 0 to 65535.')
  return port
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
