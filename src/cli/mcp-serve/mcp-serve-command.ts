import { Command, Option } from 'commander'
import { permissionModes } from '../../../machines/index.ts'
import type { PermissionMode } from '../../index.ts'
import { exitCodesHelp } from '../exit-code.ts'
import { readPort } from '../inspect/inspect-command.ts'
import { type Io, untilStopped } from '../io.ts'
import { collect, readList } from '../lists.ts'
import { readServers } from '../run/open-servers.ts'
import { readFolder } from '../run/run-inputs.ts'
import type { Finish } from '../run-cli.ts'

interface ServeOptions {
  cwd: string
  tools?: string[]
  mcp?: string
  allow?: string[]
  ask?: string[]
  deny?: string[]
  permissionMode: PermissionMode
  http?: boolean
  port?: number
  host?: string
  token?: string
  inspect?: boolean
}

const examples = `
Over stdio the client starts this command and speaks with it. Over HTTP, a token
in the variable SIGNALBOX_MCP_TOKEN is not seen by other users of the machine.

Examples:
  signalbox mcp-serve --tools Read,Grep --allow Read
  signalbox mcp-serve --mcp .mcp.json --deny mcp__files__write_file
  signalbox mcp-serve --http --port 8080 --inspect`

/** `signalbox mcp-serve`: our tools for any client of MCP. */
export const mcpServeCommand = (io: Io, finish: Finish): Command =>
  new Command('mcp-serve')
    .summary('offer the tools as an MCP server')
    .description(
      'Offers the tools (Read, Edit, Bash, …) as an MCP server, through the same gate and rules. What no rule allows, the client is asked about.',
    )
    .optionsGroup('The tools:')
    .option('--cwd <folder>', 'the folder that the tools work in', '.')
    .option('--tools <names>', 'only these, such as Read,Grep; may be repeated', readList)
    .option('--mcp <file>', 'also the tools of these MCP servers (.mcp.json), as they are when it starts')
    .option('--allow <rule>', 'runs without a question; may be repeated', collect)
    .option('--ask <rule>', 'is always asked; may be repeated', collect)
    .option('--deny <rule>', 'never runs; may be repeated', collect)
    .addOption(
      new Option('--permission-mode <mode>', 'what holds where no rule does')
        .choices(permissionModes)
        .default('default'),
    )
    .optionsGroup('The way in:')
    .option('--http', 'over streamable HTTP; over stdio otherwise')
    .option('--port <number>', 'with --http: listen there; any free port otherwise', readPort)
    .option('--host <name>', 'with --http: listen on this address; 127.0.0.1 otherwise')
    .option('--token <text>', 'with --http: who does not know it is turned away')
    .option('--inspect', 'open the inspector in the browser beside it')
    .addHelpText('after', `${examples}\n${exitCodesHelp}`)
    .action(async (options: ServeOptions, command: Command) => {
      const { http, port, host, token } = options
      if (http !== true && (port ?? host ?? token) !== undefined) {
        command.error('error: --port, --host and --token go with --http')
      }
      const { mcpServe } = await import('./mcp-serve.ts')
      const { allow, ask, deny, permissionMode: mode, tools, inspect, mcp } = options
      const way = http === true ? { port, host, token: token ?? (io.env.SIGNALBOX_MCP_TOKEN || undefined) } : undefined
      const servers = mcp === undefined ? undefined : await readServers(mcp, io)
      const given = { root: readFolder(options.cwd), tools, allow, ask, deny, mode, inspect, http: way, servers }
      finish(await mcpServe(given, untilStopped(io), (text) => io.stderr.write(text)))
    })
