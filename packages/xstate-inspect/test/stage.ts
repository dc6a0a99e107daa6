import type { CanUseTool } from 'signalbox'
import { type HeldTool, type HeldTurn, heldTool, heldTurn } from 'signalbox/testing'
import { afterEach } from 'vitest'
import { serveXStateInspect, type XStateInspectOptions, type XStateInspectServer } from '../src/server.ts'

export interface Stage extends HeldTurn {
  readonly read: HeldTool
  readonly write: HeldTool
  readonly server: XStateInspectServer
}

/** A turn of held tools and the server that shows it, closed after the test. */
export function useStage(): (options?: XStateInspectOptions, canUseTool?: CanUseTool) => Promise<Stage> {
  const servers: XStateInspectServer[] = []
  afterEach(async () => {
    for (const each of servers.splice(0)) await each.close()
  })
  return async (options, canUseTool) => {
    const read = heldTool('Read', { safe: true, cancel: true })
    const write = heldTool('Write')
    const turn = heldTurn([read.tool, write.tool], { canUseTool, maxConcurrency: 10_000 })
    const server = await serveXStateInspect(turn.executor, options)
    servers.push(server)
    return { read, write, server, ...turn }
  }
}
