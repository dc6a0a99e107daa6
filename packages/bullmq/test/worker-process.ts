import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'vite'
import { tellingRequests, watchedChild } from '../../../test/support/children/watched-children.ts'
import { root } from '../../../test/support/imports.ts'

/** A program that serves tools as it is told by its arguments, from the sources of this project. */
const program = `
const { skewMs = 0, storeFolder, secret, ...options } = JSON.parse(process.argv[2])
if (skewMs !== 0) {
  const Real = Date
  const now = () => Real.now() + skewMs
  globalThis.Date = class extends Real {
    constructor(...args) { args.length === 0 ? super(now()) : super(...args) }
    static now() { return now() }
  }
}
const { keySeal, serveTools } = await import('./serve.mjs')
const { fileResultStore } = await import('./node.mjs')
const resultStore = storeFolder && fileResultStore({ folder: storeFolder })
const seal = secret && keySeal(secret)
await serveTools({ ...options, ...(resultStore && { resultStore }), ...(seal && { seal }), onWarning: () => undefined })
process.send('ready')
`

export interface BuiltPrograms {
  /** Serves tools. */
  readonly path: string
  /** Serves sessions. */
  readonly orchestrator: string
  /** The module with the tool of these sessions. */
  readonly payTool: string
  remove(): void
}

/** Builds the programs once; their folder is removed by the caller. */
export async function buildWorker(): Promise<BuiltPrograms> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-worker-'))
  await build({
    configFile: join(root, 'vite.config.ts'),
    root,
    logLevel: 'error',
    publicDir: false,
    plugins: [tellingRequests()],
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      target: 'node20',
      minify: false,
      rolldownOptions: {
        input: {
          serve: join(root, 'packages/bullmq/src/index.ts'),
          node: join(root, 'src/node/index.ts'),
          orchestrator: join(root, 'packages/bullmq/test/orchestrator.ts'),
          'pay-tool': join(root, 'packages/bullmq/test/pay-tool.ts'),
        },
        external: /^(node:|bullmq|ioredis|pg|zod|xstate)/,
        output: { format: 'esm', entryFileNames: '[name].mjs' },
      },
    },
    ssr: { noExternal: [/^signalbox/, /^@signalbox/] },
  })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const path = join(folder, 'worker.mjs')
  writeFileSync(path, program)
  const [orchestrator, payTool] = ['orchestrator.mjs', 'pay-tool.mjs'].map((name) => join(folder, name)) as [
    string,
    string,
  ]
  return { path, orchestrator, payTool, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** A worker or an orchestrator in a process of its own. */
export class WorkerProcess {
  readonly process: ChildProcess
  readonly ready: Promise<void>

  constructor(path: string, options: object) {
    this.process = fork(path, [JSON.stringify(options)], { env: { ...process.env, ...watchedChild } })
    this.ready = new Promise((resolve, reject) => {
      this.process.once('message', () => resolve())
      this.process.once('exit', (code, signal) => reject(new Error(`The worker ended with ${code ?? signal}`)))
    })
    this.ready.catch(() => undefined)
  }

  get isGone(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    if (this.isGone) return this.process.exitCode
    const gone = new Promise<number | null>((resolve) => this.process.once('exit', resolve))
    this.process.kill(signal)
    if (signal === 'SIGKILL') this.process.kill('SIGCONT')
    return gone
  }
}
