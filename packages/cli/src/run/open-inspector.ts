import type { InspectorServer } from 'signalbox/inspect/server'
import { type Io, untilStopped } from '../io.ts'
import { usageError } from '../usage-error.ts'

/** Opens the inspector beside the terminal; its URL goes to stderr. */
export async function openInspector(port: number | undefined, io: Io): Promise<InspectorServer> {
  const { serveInspector } = await import('signalbox/inspect/server')
  try {
    const inspector = await serveInspector([], { port, commands: true, record: 'always' })
    io.stderr.write(`The inspector is at ${inspector.url}\n`)
    return inspector
  } catch (error) {
    throw usageError(`The inspector cannot listen: ${(error as Error).message}`, error)
  }
}

/** Keeps the inspector open at the end, if there is a terminal. */
export async function stayOpen(inspector: InspectorServer | undefined, io: Io): Promise<void> {
  if (inspector === undefined) return
  if (io.stdin.isTTY === true && io.stderr.isTTY === true) {
    io.stderr.write('The inspector stays open. Press Ctrl+C to stop it.\n')
    const alive = setInterval(() => undefined, 60_000)
    await untilStopped(io)
    clearInterval(alive)
  }
  await inspector.close()
}
