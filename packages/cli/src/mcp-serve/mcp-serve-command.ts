import { Command, Option } from 'commander'
import type { PermissionMode } from 'signalbox'
import { permissionModes } from 'signalbox/machines'
import { exitCodesHelp } from '../exit-code.ts'
import { type Io, untilStopped } from '../io.ts'
import { readList, readPort, readRule } from '../option-values.ts'
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

/** `signalbox mcp-serve`: serves the tools to any MCP client. */
export const mcpServeCommand = (io: Io, finish: Finish): Command =>
  new Command('mcp-serve')
    .summary('serve the tools as an MCP server')
    .description(
      'Serves the tools (Read, Edit, Bash, …) as an MCP server, with the same scheduling and rules. If no rule decides a call, the client is asked.',
    )
    .optionsGroup('The tools:')
    .option('--cwd <folder>', 'the folder that the tools work in', '.')
    .option('--tools <names>', 'use only these tools, such as Read,Grep; may be repeated', readList)
    .option('--mcp <file>', 'also serve the tools that these MCP servers (.mcp.json) have at the start')
    .option('--allow <rule>', 'calls that run without asking; may be repeated', readRule)
    .option('--ask <rule>', 'calls that always need an answer; may be repeated', readRule)
    .option('--deny <rule>', 'calls that never run; may be repeated', readRule)
    .addOption(
      new Option('--permission-mode <mode>', 'the mode if no rule matches').choices(permissionModes).default('default'),
    )
    .optionsGroup('Transport:')
    .option('--http', 'use streamable HTTP (default: stdio)')
    .option('--port <number>', 'with --http: the port to listen on (default: any free port)', readPort)
    .option('--host <name>', 'with --http: the address to listen on (default: 127.0.0.1)')
    .option('--token <text>', 'with --http: the token that clients must send')
    .option('--inspect', 'also open the inspector in the browser')
    .addHelpText('after', `${examples}\n${exitCodesHelp}`)
    .action(async (options: ServeOptions, command: Command) => {
      const { http, port, host, token } = options
      if (http !== true && (port ?? host ?? token) !== undefined) {
        command.error('error: --port, --host and --token require --http')
      }
      const { mcpServe } = await import('./mcp-serve.ts')
      const { allow, ask, deny, permissionMode: mode, tools, inspect, mcp } = options
      const way = http === true ? { port, host, token: token ?? (io.env.SIGNALBOX_MCP_TOKEN || undefined) } : undefined
      const servers = mcp === undefined ? undefined : await readServers(mcp, io)
      const given = { root: readFolder(options.cwd), tools, allow, ask, deny, mode, inspect, http: way, servers }
      finish(await mcpServe(given, untilStopped(io), (text) => io.stderr.write(text)))
    })
