import { randomBytes } from 'node:crypto'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { describeError } from 'signalbox'
import {
  endProcess,
  groupRunner,
  type ProcessExit,
  type RunningProcess,
  runMarker,
  shellEnvironment,
  within,
} from 'signalbox/node'
import { createLineReader } from './line-reader.ts'
import { notRunning } from './mcp-failure.ts'
import type { StdioServer } from './server-config.ts'

/** Grace period after closing stdin, before signals are sent. */
const goodbyeMs = 500
const grace = { termMs: 1_000, drainMs: 200 }
const maxErrorTail = 2_000

export interface StdioTransport extends Transport {
  /** Both names tell the SDK that this is stdio; stderr goes to `onStderr`. */
  readonly stderr: null
  readonly pid: null
  /** Resolves when no process of the program runs. */
  readonly ended: Promise<void>
}

export interface StdioHost {
  readonly maxMessageBytes: number
  parse(line: string): JSONRPCMessage
  onStderr(text: string): void
}

/** Starts the program in a process group of its own, and leaves no process behind. */
export function stdioTransport(config: StdioServer, host: StdioHost): StdioTransport {
  const marker = randomBytes(12).toString('hex')
  const reader = createLineReader(host.maxMessageBytes)
  let running: RunningProcess | undefined
  let ending: Promise<void> | undefined
  const decoder = new TextDecoder()
  let tail = ''
  /** Nothing after this can be parsed. */
  let isDeaf = false
  let markEnded: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    markEnded = resolve
  })

  const transport: StdioTransport = {
    stderr: null,
    pid: null,
    ended,
    async start() {
      const { command, args = [], cwd = process.cwd(), env, wrapCommand = (plain) => plain } = config
      const plain = { file: command, args, cwd, env: shellEnvironment(process.env, env) }
      const request = await wrapCommand(plain)
      if (ending !== undefined) throw new Error('the server was closed before it started')
      running = groupRunner.start(
        { ...request, env: { ...request.env, [runMarker]: marker }, hasInput: true },
        { onOutput: receive, onErrorOutput: keepTail },
      )
      const first = await Promise.race([
        running.exited,
        new Promise<'runs'>((resolve) => setImmediate(resolve, 'runs')),
      ])
      if (first !== 'runs') throw lastWords(first)
      running.exited.then((exit) => {
        transport.onerror?.(lastWords(exit))
        end()
      })
    },
    async send(message) {
      if (running?.write === undefined || ending !== undefined) throw new Error(notRunning)
      await running.write(`${JSON.stringify(message)}\n`)
    },
    async close() {
      end()
      await ended
    },
  }

  function receive(bytes: Uint8Array): void {
    if (ending !== undefined || isDeaf) return
    const { lines, isTooLong } = reader.read(bytes)
    for (const line of lines) if (line.trim() !== '') deliver(line)
    if (!isTooLong) return
    isDeaf = true
    transport.onerror?.(new Error(`the server sent a message of more than ${host.maxMessageBytes} bytes`))
    // an earlier response may still be on its way
    setImmediate(() => end(0))
  }

  function deliver(line: string): void {
    try {
      transport.onmessage?.(host.parse(line))
    } catch (error) {
      transport.onerror?.(
        new Error(`the server printed a line that is not a message: ${line.slice(0, 200)}`, { cause: error }),
      )
    }
  }

  function keepTail(bytes: Uint8Array): void {
    const text = decoder.decode(bytes, { stream: true })
    tail = (tail + text).slice(-maxErrorTail)
    host.onStderr(text)
  }

  const lastWords = (exit: ProcessExit): Error => {
    if (exit.kind === 'notStarted') {
      const { code } = exit.error as { code?: string }
      return Object.assign(new Error(`the server could not be started: ${describeError(exit.error)}`), { code })
    }
    const how = exit.signal === null ? `exited with code ${exit.code}` : `was killed by ${exit.signal}`
    return new Error(`the server ${how}${tail.trim() === '' ? '' : `; its stderr ends with: ${tail.trim()}`}`)
  }

  /** The client learns of the end at once; the processes are cleaned up after that. */
  function end(patienceMs = goodbyeMs): void {
    if (ending !== undefined) return
    ending = finish(patienceMs).finally(markEnded)
    transport.onclose?.()
  }

  async function finish(patienceMs: number): Promise<void> {
    if (running === undefined) return
    running.endInput?.()
    await within(running.exited, patienceMs)
    await endProcess(groupRunner, running, `${runMarker}=${marker}`, grace)
  }

  return transport
}
