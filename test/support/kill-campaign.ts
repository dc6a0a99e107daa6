import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { foldJournal, type JournalRecord, type JournalStore } from 'signalbox/durable'
import { build } from 'vite'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { tellingRequests, watchedChild } from './children/watched-children.ts'
import { root } from './imports.ts'
import type { LifeOf } from './killed-life.ts'

/** Writes the program of the lives. `store` is an expression; `imports` has what it needs. `process.argv[2]` is the place. */
export async function writeLife(folder: string, imports: string, store: string): Promise<string> {
  const source = join(folder, 'life.ts')
  const live = JSON.stringify(join(root, 'test/support/killed-life.ts'))
  await writeFile(
    source,
    `${imports}\nimport { liveAll } from ${live}\nconst store = ${store}\nawait liveAll(store, JSON.parse(process.argv[3]))\n`,
  )
  await build({
    configFile: join(root, 'vite.config.ts'),
    root,
    logLevel: 'error',
    publicDir: false,
    plugins: [tellingRequests()],
    build: {
      ssr: source,
      outDir: folder,
      emptyOutDir: false,
      target: 'node20',
      minify: false,
      rolldownOptions: { external: /^node:|^pg-native$/, output: { format: 'esm', entryFileNames: 'life.mjs' } },
    },
    ssr: { noExternal: true },
  })
  return join(folder, 'life.mjs')
}

interface Told {
  readonly began?: string
  readonly did?: string
  readonly name?: string
  readonly asked?: string
}

export interface Campaign {
  readonly program: string
  /** Where the store is, for the program. */
  readonly place: string
  /** A folder for the files that tell what bodies did. */
  readonly home: string
  readonly store: JournalStore
  readonly seed: number
  /** How many sessions must be killed in all. */
  readonly wanted: number
}

/** A session that did not end by itself in this time, in a life that nobody kills, hangs. */
const patienceMs = 240_000

/** Sessions that share a process. One SIGKILL ends all of them, each at a point of its own. */
const together = 32

const start = ({ program, place }: Campaign, lives: readonly LifeOf[]): ChildProcess =>
  fork(program, [place, JSON.stringify(lives)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    env: { ...process.env, ...watchedChild },
  })

/** The lives of some sessions in one process. Returns those that came to their end, by id, with their transcripts. */
async function liveAndDie(campaign: Campaign, lives: readonly LifeOf[], diesAt: number | undefined) {
  const child = start(campaign, lives)
  const ended = new Map<string, unknown[]>()
  let trouble = ''
  let timer = setTimeout(() => child.kill('SIGABRT'), patienceMs)
  let steps = 0
  child.stderr?.on('data', (data) => {
    trouble += data
  })
  child.on('message', (message: { ended?: string; transcript?: unknown[] }) => {
    if (message.ended !== undefined) ended.set(message.ended, message.transcript ?? [])
    // it goes on until the signal arrives, so it dies anywhere behind that step
    if (steps++ !== diesAt) return
    clearTimeout(timer)
    timer = setTimeout(() => child.kill('SIGKILL'), (lives[0]?.seed ?? 0) % 4)
  })
  const signal = await new Promise<string | null>((resolve) => child.once('exit', (_code, by) => resolve(by)))
  clearTimeout(timer)
  if (ended.size < lives.length && signal !== 'SIGKILL')
    throw new Error(`${lives.length - ended.size} lives failed or hang (${signal}): ${trouble}`)
  return { ended, isKilled: signal === 'SIGKILL' }
}

/** Runs sessions through lives that are killed, until each comes to its end. Returns how many lives of sessions were killed. */
export async function runKilled(campaign: Campaign): Promise<number> {
  const { home, store, seed: first, wanted } = campaign
  let kills = 0
  for (let batch = 0; kills < wanted; batch++) {
    let open = Array.from({ length: together }, (_, at) => first * 1_000_003 + batch * together + at)
    for (let life = 0; open.length > 0; life++) {
      const lives = open.map((seed) => ({ id: `s${seed}`, effects: effectsOf(home, seed), seed: seed * 100 + life }))
      const dies = life < 12 ? ((first + batch) * 7_919 + life * 104_729) % (20 * open.length) : undefined
      const { ended, isKilled } = await liveAndDie(campaign, lives, dies)
      for (const seed of open) {
        const transcript = ended.get(`s${seed}`)
        if (transcript === undefined) continue
        const problems = await judge(store, `s${seed}`, transcript, effectsOf(home, seed))
        if (problems.length > 0) throw new Error(`seed ${seed}: ${problems.join('; ')}`)
        await store.remove(`s${seed}`)
        await rm(effectsOf(home, seed), { force: true })
      }
      open = open.filter((seed) => !ended.has(`s${seed}`))
      if (isKilled) kills += open.length
    }
  }
  return kills
}

/**
 * Stops a process with SIGSTOP while its sessions and their agents run, checks that a second process is refused, and lets
 * the first go on. Returns in how many sessions the first one was stopped before their end.
 */
export async function runStopped(campaign: Campaign): Promise<number> {
  const { home, store, seed: first, wanted } = campaign
  const perProcess = 8
  let stopped = 0
  for (let batch = 0; stopped < wanted; batch++) {
    const seeds = Array.from({ length: perProcess }, (_, at) => first * 7_000_003 + batch * perProcess + at)
    const livesOf = (life: number): LifeOf[] =>
      seeds.map((seed) => ({ id: `t${seed}`, effects: effectsOf(home, seed), seed: seed * 100 + life }))
    const ended = new Map<string, unknown[]>()
    const child = start(campaign, livesOf(0))
    const isGone = new Promise((resolve) => child.once('exit', resolve))
    await new Promise<void>((resolve) => {
      let steps = 0
      let opened = 0
      child.once('exit', () => resolve())
      child.on('message', (message: { ended?: string; transcript?: unknown[]; opened?: string }) => {
        if (message.opened !== undefined) opened++
        if (message.ended !== undefined) ended.set(message.ended, message.transcript ?? [])
        if (opened < perProcess || steps++ !== (batch * 29) % 160) return
        child.kill('SIGSTOP')
        resolve()
      })
    })
    try {
      stopped += perProcess - ended.size
      const tried = await liveAndDie(campaign, livesOf(1), undefined).catch((error: Error) => error)
      if (!(tried instanceof Error) || !tried.message.includes('session_locked'))
        throw new Error('a second process opened a session whose owner is alive')
    } finally {
      child.kill('SIGCONT')
      await isGone
    }
    for (const seed of seeds) {
      const id = `t${seed}`
      const problems = await judge(store, id, ended.get(id) ?? [], effectsOf(home, seed))
      if (problems.length > 0) throw new Error(`stopped, seed ${seed}: ${problems.join('; ')}`)
      await store.remove(id)
    }
  }
  return stopped
}

/**
 * Stops a process with SIGSTOP while its sessions and their agents run, lets a second process take them over and end them,
 * and lets the first go on. Returns how many sessions were taken from it.
 */
export async function runTakenOver(campaign: Campaign): Promise<number> {
  const { home, store, seed: first, wanted } = campaign
  const perProcess = 8
  let taken = 0
  for (let batch = 0; taken < wanted; batch++) {
    const seeds = Array.from({ length: perProcess }, (_, at) => first * 9_000_011 + batch * perProcess + at)
    const livesOf = (life: number): LifeOf[] =>
      seeds.map((seed) => ({ id: `o${seed}`, effects: effectsOf(home, seed), seed: seed * 100 + life }))
    const owner = start(campaign, livesOf(0))
    const { ended, isGone, heard, trouble } = await stopAfter(owner, perProcess, (batch * 29) % 160)
    const lost = seeds.filter((seed) => !ended.has(`o${seed}`))
    taken += lost.length
    try {
      const next = await liveAndDie(campaign, livesOf(1), undefined)
      const before = new Map(await Promise.all(seeds.map(async (seed) => [seed, await toldIn(home, seed)] as const)))
      const lengths = await lengthsOf(store)
      const said = heard.length
      owner.kill('SIGCONT')
      const code = await within(isGone, `the first owner hangs in batch ${batch}`)
      const problems: string[] = []
      if (code !== 0) problems.push(`the first owner ended with ${code}: ${trouble()}`)
      const all = await recordsIn(store)
      // a body that only reads is not recorded; another one begins late only if its start was durable before the stop
      for (const seed of lost) {
        const more = (await toldIn(home, seed)).slice(before.get(seed)?.length ?? 0)
        for (const { began, name } of more) {
          if (began === undefined || name === 'Read') continue
          const isRecorded = all.some(
            ({ id, record: { t, call } }) =>
              t === 'call.started' && `${id}/`.startsWith(`o${seed}/`) && String(call).endsWith(`_${began}`),
          )
          if (!isRecorded) problems.push(`seed ${seed}: ${began} began too late`)
        }
      }
      // nobody gets a result that is not in the log
      const logs = JSON.stringify(all)
      const invented = heard.slice(said).filter(({ result }) => result !== undefined && !logs.includes(result))
      if (invented.length > 0) problems.push(`the first owner yielded ${invented.length} results`)
      if (JSON.stringify(await lengthsOf(store)) !== JSON.stringify(lengths)) problems.push('the first owner wrote')
      for (const seed of seeds) {
        const found = await judge(store, `o${seed}`, next.ended.get(`o${seed}`) ?? [], effectsOf(home, seed))
        problems.push(...found.map((problem) => `seed ${seed}: ${problem}`))
      }
      if (problems.length > 0) throw new Error(`taken over, batch ${batch}: ${problems.join('; ')}`)
    } finally {
      owner.kill('SIGKILL')
    }
    for (const seed of seeds) await store.remove(`o${seed}`)
  }
  return taken
}

interface Heard {
  readonly ended?: string
  readonly transcript?: unknown[]
  readonly opened?: string
  /** The uuid of a message with results. */
  readonly result?: string
}

/** Stops a process this many steps after it has opened its sessions, unless it ends before. */
async function stopAfter(child: ChildProcess, sessions: number, steps: number) {
  const ended = new Map<string, unknown[]>()
  const heard: Heard[] = []
  let said = ''
  child.stderr?.on('data', (data) => {
    said += data
  })
  const isGone = new Promise<unknown>((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
  await new Promise<void>((resolve) => {
    let [opened, passed] = [0, 0]
    child.once('exit', () => resolve())
    child.on('message', (message: Heard) => {
      heard.push(message)
      if (message.opened !== undefined) opened++
      if (message.ended !== undefined) ended.set(message.ended, message.transcript ?? [])
      if (opened < sessions || passed++ !== steps) return
      child.kill('SIGSTOP')
      resolve()
    })
  })
  return { ended, heard, isGone, trouble: () => said }
}

async function within<T>(promise: Promise<T>, problem: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(problem)), patienceMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

async function recordsIn(store: JournalStore): Promise<{ id: string; record: JournalRecord }[]> {
  const all: { id: string; record: JournalRecord }[] = []
  for await (const { id } of store.list()) for await (const record of store.read(id)) all.push({ id, record })
  return all
}

async function lengthsOf(store: JournalStore): Promise<unknown[]> {
  const lengths: [string, number][] = []
  for await (const { id, records } of store.list()) lengths.push([id, records])
  return lengths.sort()
}

const effectsOf = (home: string, seed: number): string => join(home, `effects-${seed}.jsonl`)

async function linesOf(effects: string): Promise<Told[]> {
  if (!existsSync(effects)) return []
  const lines = (await readFile(effects, 'utf8')).trim().split('\n')
  return lines.filter(Boolean).map((line) => JSON.parse(line))
}

const toldIn = (home: string, seed: number): Promise<Told[]> => linesOf(effectsOf(home, seed))

async function judge(
  store: JournalStore,
  id: string,
  transcript: readonly unknown[],
  effects: string,
): Promise<string[]> {
  const problems: string[] = []
  const told = await linesOf(effects)
  const records: JournalRecord[] = []
  for await (const record of store.read(id)) records.push(record)
  const all = [...records]
  const agents = new Set(records.flatMap(({ t, session }) => (t === 'agent.started' ? String(session) : [])))
  for (const session of agents) for await (const record of store.read(session)) all.push(record)
  // the run may have ended in a life that was killed behind it
  const { reason } = foldJournal(records)
  if (reason !== 'completed') problems.push(`it ended ${reason}`)
  if (!checkTranscript(transcript as never).ok) problems.push('the transcript is not valid')
  if (JSON.stringify(foldJournal(records).transcript) !== JSON.stringify(transcript))
    problems.push('the log folds to another transcript')
  const began = (key: string) => told.filter((line) => line.began === key).length
  for (const key of ['w', 'w1', 'w2', 's1']) if (began(key) > 1) problems.push(`${key} began ${began(key)} times`)
  const logs = JSON.stringify(all.filter(({ t }) => t === 'call.completed'))
  for (const key of ['w', 'w1', 'w2', 's1', 'r1', 'r2']) {
    const isDone = logs.includes(`"did ${key}"`)
    if (isDone && !told.some((line) => line.did === key)) problems.push(`${key} has a result that never was`)
  }
  for (const { t, call } of all) {
    if (t !== 'permission.answered') continue
    const answers = all.filter((each) => each.t === 'permission.answered' && each.call === call).length
    if (answers > 1) problems.push(`${call} was answered ${answers} times`)
  }
  return problems
}
