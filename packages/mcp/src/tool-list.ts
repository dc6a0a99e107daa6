import type { AnyTool } from 'signalbox'
import { type CallServer, mcpTool } from './mcp-tool.ts'
import { type McpToolInfo, readPages, readToolInfo } from './read-tool-list.ts'
import type { McpServerConfig } from './server-config.ts'
import { toolNames } from './tool-name.ts'

interface KnownTool {
  /** Everything the tool was made of. */
  readonly made: string
  readonly tool: AnyTool
}

/** The tools of one server, as last reported. */
export class ToolList {
  readonly #server: string
  readonly #key: string
  readonly #config: McpServerConfig
  readonly #callServer: CallServer
  readonly #warn: (problem: string) => void
  #known = new Map<string, KnownTool>()

  constructor(
    server: string,
    key: string,
    config: McpServerConfig,
    callServer: CallServer,
    warn: (problem: string) => void,
  ) {
    this.#server = server
    this.#key = key
    this.#config = config
    this.#callServer = callServer
    this.#warn = warn
  }

  get tools(): AnyTool[] {
    return [...this.#known.values()].map(({ tool }) => tool)
  }

  /** Reads the list again, and returns whether it changed. */
  async read(ask: ((params: object) => Promise<Record<string, unknown>>) | undefined): Promise<boolean> {
    const given = ask === undefined ? [] : await readPages(ask, 'tools', this.#warn)
    const infos = this.#usable(given)
    const names = toolNames(this.#key, [...infos.keys()])
    const before = this.#known
    this.#known = new Map([...infos].map(([own, info]) => [own, this.#toolFor(names.get(own) as string, info)]))
    const isSame = [...this.#known].every(([own, { tool }]) => before.get(own)?.tool === tool)
    return !isSame || before.size !== this.#known.size
  }

  #usable(given: readonly unknown[]): Map<string, McpToolInfo> {
    const infos = new Map<string, McpToolInfo>()
    for (const each of given) {
      const info = readToolInfo(each, this.#warn)
      if (info === undefined || !this.#isWanted(info.name)) continue
      if (!infos.has(info.name)) infos.set(info.name, info)
      else this.#warn(`it has two tools named ${JSON.stringify(info.name)}; the second is ignored`)
    }
    return infos
  }

  /** The same object for the same tool, so that references stay valid. */
  #toolFor(name: string, info: McpToolInfo): KnownTool {
    const made = JSON.stringify([name, info])
    const known = this.#known.get(info.name)
    if (known?.made === made) return known
    return { made, tool: mcpTool(this.#server, name, info, this.#config, this.#callServer) }
  }

  #isWanted(tool: string): boolean {
    const { allowTools, denyTools } = this.#config
    return allowTools?.includes(tool) !== false && denyTools?.includes(tool) !== true
  }
}
