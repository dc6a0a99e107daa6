import { type ChildProcess, fork } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'vite'
import { root } from './imports.ts'

/** Opens a session, writes to it and posts to it as it is told by messages, and answers each. `store` is an expression. */
const programFor = (imports: string, store: string): string => `
${imports}
const store = ${store}
let journal
const write = async (record) => { journal.append(record); await journal.flush() }
const commands = {
  async open(owner) { journal = await store.open('s', { owner, mode: 'either' }); journal.onNote((note) => process.send({ note })) },
  write: (text) => write({ t: 'message.sent', text }),
  ask: (question) => write({ t: 'permission.asked', question, reply: 'r', call: 'c' }),
  post: (note) => store.post('s', note),
  async flood() { for (let n = 0; ; n++) { await write({ t: 'message.sent', text: n }); process.send({ flushed: n }) } },
}
process.on('message', ({ command, value }) =>
  commands[command](value).then((result) => process.send({ done: result ?? 'done' }), (error) => process.send({ done: error.code })))
`

/** Writes a program on one entry of the project, from its sources, that `ToldChild` can run. */
export async function writeProgram(folder: string, entry: string, name: string, store: string): Promise<string> {
  await build({
    configFile: join(root, 'vite.config.ts'),
    root,
    logLevel: 'error',
    publicDir: false,
    build: {
      ssr: join(root, entry),
      outDir: folder,
      emptyOutDir: false,
      target: 'node20',
      minify: false,
      rolldownOptions: { external: /^node:|^pg-native$/, output: { format: 'esm', entryFileNames: 'entry.mjs' } },
    },
    ssr: { noExternal: true },
  })
  const path = join(folder, 'program.mjs')
  await writeFile(path, programFor(`import { ${name} } from './entry.mjs'`, store))
  return path
}

interface Said {
  readonly done?: string
  readonly note?: unknown
  readonly flushed?: number
}

/** A process of its own that does what it is told. */
export class ToldChild {
  readonly process: ChildProcess
  readonly notes: unknown[] = []
  /** How many records of the flood are flushed, less one. */
  flushed = -1
  readonly #answers: string[] = []
  readonly #sleepers: (() => void)[] = []

  constructor(program: string, ...args: string[]) {
    this.process = fork(program, args)
    this.process.on('message', ({ done, note, flushed }: Said) => {
      if (done !== undefined) this.#answers.push(done)
      if (note !== undefined) this.notes.push(note)
      this.flushed = flushed ?? this.flushed
      for (const wake of this.#sleepers.splice(0)) wake()
    })
  }

  async tell(command: string, value?: unknown): Promise<string> {
    this.process.send({ command, value })
    await this.until(() => this.#answers.length > 0)
    return this.#answers.shift() as string
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#sleepers.push(resolve))
  }

  /** Ends it with SIGKILL, unless it has ended. */
  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return
    const gone = new Promise((resolve) => this.process.once('exit', resolve))
    this.process.kill('SIGKILL')
    await gone
  }
}
