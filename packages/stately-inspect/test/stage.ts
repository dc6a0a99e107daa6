import type { CanUseTool } from 'signalbox'
import { type HeldTool, type HeldTurn, heldTool, heldTurn } from 'signalbox/testing'
import { afterEach } from 'vitest'
import { type StatelyServer, type StatelyServerOptions, serveStatelyInspect } from '../src/server.ts'

export interface Stage extends HeldTurn {
  readonly read: HeldTool
  readonly server: StatelyServer
}

/** A turn of held tools and the server that shows it, closed after the test. */
export function useStage(): (options?: StatelyServerOptions, canUseTool?: CanUseTool) => Promise<Stage> {
  const servers: StatelyServer[] = []
  afterEach(async () => {
    for (const each of servers.splice(0)) await each.close()
  })
  return async (options, canUseTool) => {
    const read = heldTool('Read', { safe: true, cancel: true })
    const turn = heldTurn([read.tool], { canUseTool, maxConcurrency: 10_000 })
    const server = await serveStatelyInspect(turn.executor, options)
    servers.push(server)
    return { read, server, ...turn }
  }
}
