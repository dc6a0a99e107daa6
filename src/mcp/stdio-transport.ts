import { randomBytes } from 'node:crypto'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { describeError } from '../errors/describe-error.ts'
import { endProcess, within } from '../shell/end-process.ts'
import { groupRunner } from '../shell/group-runner.ts'
import type { ProcessExit, RunningProcess } from '../shell/process-runner.ts'
import { runMarker } from '../shell/run-marker.ts'
import { shellEnvironment } from '../shell/shell-environment.ts'
import { createLineReader } from './line-reader.ts'
import { notRunning } from './mcp-failure.ts'
import type { StdioServer } from './server-config.ts'

/** A server that was asked to end by closing its input has this long before it is told by signals. */
const goodbyeMs = 500
const grace = { termMs: 1_000, drainMs: 200 }
const maxErrorTail = 2_000

export interface StdioTransport extends Transport {
  /** Both names tell the SDK that this is stdio; what is printed as errors goes to `onStderr`. */
  readonly stderr: null
  readonly pid: null
  /** When nothing of the program runs any more. */
  readonly ended: Promise<void>
}

export interface StdioHost {
  readonly maxMessageBytes: number
  parse(line: string): JSONRPCMessage
  onStderr(text: string): void
}

/** Starts the program in a process group of its own, and leaves nothing of it behind. */
export function stdioTransport(config: StdioServer, host: StdioHost): StdioTransport {
  const marker = randomBytes(12).toString('hex')
  const reader = createLineReader(host.maxMessageBytes)
  let running: RunningProcess | undefined
  let ending: Promise<void> | undefined
  const decoder = new TextDecoder()
  let tail = ''
  /** Nothing that comes now can be read any more. */
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
      if (ending !== undefined) throw new Error('it was closed before it started')
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
    transport.onerror?.(new Error(`it sent a message of more than ${host.maxMessageBytes} bytes`))
    // an answer that came before it is on its way still
    setImmediate(() => end(0))
  }

  function deliver(line: string): void {
    try {
      transport.onmessage?.(host.parse(line))
    } catch (error) {
      transport.onerror?.(new Error(`it printed what is no message: ${line.slice(0, 200)}`, { cause: error }))
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
      return Object.assign(new Error(`it could not be started: ${describeError(exit.error)}`), { code })
    }
    const how = exit.signal === null ? `with code ${exit.code}` : `by ${exit.signal}`
    return new Error(`it ended ${how}${tail.trim() === '' ? '' : `, after printing: ${tail.trim()}`}`)
  }

  /** Whoever talks with it hears of the end at once; the processes are seen to after that. */
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
