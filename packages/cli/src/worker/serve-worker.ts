import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ResultStore } from 'signalbox'
import { fileResultStore } from 'signalbox/node'
import { exitCode } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { loadOptional } from '../load-optional.ts'
import { fileError, usageError } from '../usage-error.ts'

export interface WorkerOptions {
  /** The path of the module with the tools. */
  readonly tools: string
  readonly redis?: string
  readonly label?: readonly string[]
  readonly concurrency?: number
  readonly bodies: 'process' | 'worker'
  readonly name?: string
  readonly prefix?: string
  readonly results?: string
  /** Seconds. */
  readonly drain: number
  readonly health?: number
  readonly import?: readonly string[]
}

const bullmq = '@signalbox/bullmq'

/** The part of that package that is used here; it is optional, so its types are not imported. */
interface Bullmq {
  keySeal(secret: string): object
  serveTools(options: Readonly<Record<string, unknown>> & { readonly resultStore?: ResultStore }): Promise<{
    readonly name: string
    readonly tools: readonly string[]
    health(): object
    close(): Promise<{ readonly killed: number }>
  }>
}

/** Serves tools until a signal, then drains. Returns the exit code. */
export async function serveWorker(options: WorkerOptions, io: Io): Promise<number> {
  const { label: labels = ['default'], concurrency, name, prefix, drain, results } = options
  const { import: imports = [] } = options
  if (options.bodies === 'worker' && imports.length > 0) {
    throw usageError('--import needs a process for each body. For --bodies worker, use NODE_OPTIONS="--import …".')
  }
  const path = checkedModule(options)
  const connection = options.redis ?? (io.env.REDIS_URL || 'redis://127.0.0.1:6379')
  const { serveTools, keySeal } = await loadOptional<Bullmq>(
    bullmq,
    `Missing the package for workers. Run: npm install ${bullmq} (or npx -p @signalbox/cli -p ${bullmq} signalbox worker …).`,
  )
  const signals = signalsOf(io)
  const tell = (text: string): void => void io.stderr.write(`signalbox: ${text}\n`)
  const starting = serveTools({
    connection,
    tools: path,
    labels,
    handleSignals: false,
    drainMs: drain * 1_000,
    bodies: options.bodies,
    ...(options.bodies === 'process' && { execArgv: imports.map((module) => `--import=${module}`) }),
    onWarning: ({ message }: { message: string }) => tell(message),
    ...(io.env.SIGNALBOX_SEAL && { seal: keySeal(io.env.SIGNALBOX_SEAL) }),
    ...(concurrency !== undefined && { concurrency }),
    ...(name !== undefined && { name }),
    ...(prefix !== undefined && { prefix }),
    ...(results !== undefined && { resultStore: fileResultStore({ folder: resolve(results) }) }),
  })
  const served = await Promise.race([starting, signals.first])
  if (served === undefined) {
    tell(`Stopped while waiting for Redis at ${shown(connection)}.`)
    // the connection would go on trying
    io.exit(exitCode.failed)
    return exitCode.failed
  }
  const report = (): void => void io.stdout.write(`${JSON.stringify(served.health())}\n`)
  const from = `Redis at ${shown(connection)}, ${labels.length === 1 ? 'label' : 'labels'} ${labels.join(', ')}`
  io.stdout.write(`Worker ${served.name} serves ${served.tools.join(', ')} (${from}).\nPress Ctrl+C to drain it.\n`)
  const health = options.health === undefined ? undefined : setInterval(report, options.health * 1_000)
  await signals.first
  clearInterval(health)
  io.stdout.write('Draining: no more calls are taken.\n')
  const stop = signals.onNext((code) => io.exit(code))
  const { killed } = await served.close()
  stop()
  if (killed === 0) return exitCode.done
  tell(`Killed ${killed} ${killed === 1 ? 'call' : 'calls'} after ${drain} s. The outcome is unknown.`)
  return exitCode.failed
}

function checkedModule({ tools, import: imports = [] }: WorkerOptions): string {
  const path = resolve(tools)
  try {
    if (!statSync(path).isFile()) throw usageError(`${tools}: expected a module, found a folder.`)
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? fileError(tools, error) : error
  }
  // newer versions of Node load TypeScript by themselves
  const isNative = (process.features as { typescript?: unknown }).typescript
  if (/\.[cm]?tsx?$/.test(path) && !isNative && imports.length === 0) {
    throw usageError(
      `${tools}: Node ${process.versions.node} cannot load TypeScript. Run: npm install tsx, then add --import tsx; or use Node 22.18 or later.`,
    )
  }
  return path
}

/** The address without its user and password. */
function shown(url: string): string {
  try {
    const { protocol, host } = new URL(url)
    return `${protocol}//${host}`
  } catch {
    return 'the given address'
  }
}

function signalsOf(io: Io): { first: Promise<undefined>; onNext(listener: (code: number) => void): () => void } {
  const first = new Promise<undefined>((settle) => {
    const stop = io.onSignal(() => {
      stop()
      settle(undefined)
    })
  })
  const onNext = (listener: (code: number) => void): (() => void) =>
    io.onSignal((signal) => listener(signal === 'SIGINT' ? exitCode.interrupted : exitCode.terminated))
  return { first, onNext }
}
