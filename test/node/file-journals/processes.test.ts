import { type ChildProcess, fork } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileJournals } from 'signalbox/node'
import { build } from 'vite'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/base/sha256.ts'
import { root } from '../../support/imports.ts'

/** Does what it is told by messages, and answers each. */
const program = `
import { fileJournals } from './node.mjs'
const store = fileJournals({ folder: process.argv[2] })
let journal
const commands = {
  async open(owner) { journal = await store.open('s', { owner, mode: 'either' }); journal.onNote((note) => process.send({ note })) },
  async write(text) { journal.append({ t: 'message.sent', text }); await journal.flush() },
  ask: async (question) => { journal.append({ t: 'permission.asked', question, reply: 'r', call: 'c' }); await journal.flush() },
  post: (note) => store.post('s', note),
  async flood() { for (let n = 0; ; n++) { journal.append({ t: 'message.sent', text: n }); await journal.flush(); process.send({ flushed: n }) } },
}
process.on('message', ({ command, value }) =>
  commands[command](value).then((result) => process.send({ done: result ?? 'done' }), (error) => process.send({ done: error.code })))
`

interface Said {
  readonly done?: string
  readonly note?: unknown
  readonly flushed?: number
}

describe('two processes on one session', () => {
  let folder: string
  let home: string
  const children: Child[] = []

  class Child {
    readonly process: ChildProcess
    readonly notes: unknown[] = []
    flushed = -1
    #wake: (() => void)[] = []
    #answers: string[] = []

    constructor() {
      this.process = fork(join(home, 'program.mjs'), [folder])
      this.process.on('message', ({ done, note, flushed }: Said) => {
        if (done !== undefined) this.#answers.push(done)
        if (note !== undefined) this.notes.push(note)
        this.flushed = flushed ?? this.flushed
        for (const wake of this.#wake.splice(0)) wake()
      })
      children.push(this)
    }

    async tell(command: string, value?: unknown): Promise<string> {
      this.process.send({ command, value })
      await this.until(() => this.#answers.length > 0)
      return this.#answers.shift() as string
    }

    async until(isSo: () => boolean): Promise<void> {
      while (!isSo()) await new Promise<void>((resolve) => this.#wake.push(resolve))
    }

    async kill(): Promise<void> {
      const gone = new Promise((resolve) => this.process.once('exit', resolve))
      this.process.kill('SIGKILL')
      await gone
    }
  }

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'signalbox-program-'))
    await build({
      configFile: false,
      root,
      logLevel: 'warn',
      publicDir: false,
      build: {
        ssr: join(root, 'src/node/index.ts'),
        outDir: home,
        emptyOutDir: false,
        target: 'node20',
        minify: false,
        rolldownOptions: { external: /^node:/, output: { format: 'esm', entryFileNames: 'node.mjs' } },
      },
      ssr: { noExternal: true },
    })
    await writeFile(join(home, 'program.mjs'), program)
    return () => rm(home, { recursive: true, force: true })
  })
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-processes-'))
  })
  afterEach(async () => {
    for (const child of children.splice(0))
      if (child.process.exitCode === null && child.process.signalCode === null) await child.kill()
    await rm(folder, { recursive: true, force: true })
  })

  const texts = async (): Promise<unknown[]> => {
    const found: unknown[] = []
    for await (const { t, text } of fileJournals({ folder }).read('s')) if (t === 'message.sent') found.push(text)
    return found
  }
  const answer = (by: string) => ({ type: 'answer', question: 'q', answer: { behavior: 'allow' }, by })

  it('D10 a living owner keeps it; a killed one is replaced, and nothing flushed is lost', async () => {
    const first = new Child()
    const second = new Child()
    expect(await first.tell('open', 'first')).toBe('done')
    expect(await second.tell('open', 'second')).toBe('session_locked')
    first.process.send({ command: 'flood' })
    await first.until(() => first.flushed >= 20)
    expect(await second.tell('open', 'second')).toBe('session_locked')
    await first.kill()
    expect(await second.tell('open', 'second')).toBe('done')
    const kept = await texts()
    expect(kept.length).toBeGreaterThan(first.flushed)
    expect(kept).toEqual([...kept.keys()])
    expect(await second.tell('write', 'mine')).toBe('done')
    expect((await texts()).at(-1)).toBe('mine')
  })

  it('D10 an owner that is stopped for a while is still the only one that writes', async () => {
    const [first, second] = [new Child(), new Child()]
    await first.tell('open', 'first')
    first.process.kill('SIGSTOP')
    expect(await second.tell('open', 'second')).toBe('session_locked')
    first.process.kill('SIGCONT')
    expect(await first.tell('write', 'mine')).toBe('done')
    expect(await texts()).toEqual(['mine'])
    const types = (await readFile(join(folder, `${sha256('s')}.jsonl`), 'utf8')).match(/session\.opened/g)
    expect(types).toHaveLength(1)
  })

  it('D6a D16 an answer of another process reaches an owner that runs, and one that comes later; the first counts', async () => {
    const [owner, ann, bob] = [new Child(), new Child(), new Child()]
    await owner.tell('open', 'owner')
    await owner.tell('ask', 'q')
    const said = await Promise.all([ann.tell('post', answer('ann')), bob.tell('post', answer('bob'))])
    expect([...said].sort()).toEqual(['accepted', 'stale'])
    await owner.until(() => owner.notes.length > 0)
    const winner = answer(said[0] === 'accepted' ? 'ann' : 'bob')
    expect(owner.notes).toEqual([winner])
    await owner.kill()
    const message = { type: 'message', uuid: 'm', content: 'while nobody owns it' }
    expect(await ann.tell('post', message)).toBe('accepted')
    expect(await bob.tell('post', message)).toBe('stale')
    const next = new Child()
    await next.tell('open', 'next')
    await next.until(() => next.notes.length > 1)
    // the first owner was killed before it copied the answer
    expect(next.notes).toEqual([winner, message])
  })
})
