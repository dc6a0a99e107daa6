import type { InspectorServer } from '../../inspect-server/index.ts'
import { type Io, untilStopped } from '../io.ts'
import { usageError } from '../usage-error.ts'

/** The inspector beside the terminal; its address is no part of what is shown. */
export async function openInspector(port: number | undefined, io: Io): Promise<InspectorServer> {
  const { serveInspector } = await import('../../inspect-server/index.ts')
  try {
    const inspector = await serveInspector([], { port, commands: true, record: 'always' })
    io.stderr.write(`The inspector is at ${inspector.url}\n`)
    return inspector
  } catch (error) {
    throw usageError(`The inspector cannot listen: ${(error as Error).message}`, error)
  }
}

/** Who sits at a terminal may want to look when all is over. */
export async function stayOpen(inspector: InspectorServer | undefined, io: Io): Promise<void> {
  if (inspector === undefined) return
  if (io.stdin.isTTY === true && io.stderr.isTTY === true) {
    io.stderr.write('The inspector stays open. Ctrl+C ends it.\n')
    const alive = setInterval(() => undefined, 60_000)
    await untilStopped(io)
    clearInterval(alive)
  }
  await inspector.close()
}
