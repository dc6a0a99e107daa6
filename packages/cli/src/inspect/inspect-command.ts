import { statSync } from 'node:fs'
import { Command } from 'commander'
import { type Io, untilStopped } from '../io.ts'
import { readPort } from '../option-values.ts'
import { usageError } from '../usage-error.ts'

interface InspectOptions {
  port?: number
  coverage?: string
  journal?: string
}

/** `signalbox inspect`: opens the inspector in the browser, with or without a recording. */
export const inspectCommand = (io: Io): Command =>
  new Command('inspect')
    .summary('open the inspector in the browser')
    .description(
      'Serves the inspector on this machine and prints its URL. Pass a recording to show it, or drop one onto the page.',
    )
    .argument('[recording]', 'a recording (.jsonl), such as from signalbox run --record')
    .option(
      '--journal <folder>',
      'a folder of stored sessions, such as from signalbox run --journal: list and open them',
    )
    .option('--coverage <file>', 'a coverage file: show how often a test suite took each transition')
    .option('--port <number>', 'the port to listen on (default: any free port)', readPort)
    .addHelpText('after', '\nExamples:\n  signalbox inspect turn.jsonl\n  signalbox inspect --journal ~/sessions')
    .action(async (recording: string | undefined, { port, coverage, journal }: InspectOptions) => {
      for (const file of [recording, coverage]) {
        if (file !== undefined && !isFile(file)) throw usageError(`${file}: no such file.`)
      }
      const { serveInspector } = await import('signalbox/inspect/server')
      if (journal !== undefined && !isFolder(journal)) throw usageError(`--journal ${journal}: no such folder.`)
      const journals =
        journal === undefined ? undefined : (await import('signalbox/node')).fileJournals({ folder: journal })
      const options = { recording, coverage, journals, port, keepsProcess: true, viewerOnly: true }
      const server = await serveInspector([], options).catch((error: Error) => {
        throw usageError(`The inspector cannot listen: ${error.message}`, error)
      })
      const stopped = untilStopped(io)
      io.stdout.write(`The inspector is at ${server.url}\nPress Ctrl+C to stop it.\n`)
      await stopped
      await server.close()
    })

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
