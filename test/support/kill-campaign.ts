import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { foldJournal, type JournalRecord, type JournalStore } from 'signalbox/durable'
import { build } from 'vite'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { root } from './imports.ts'

/** Writes the program of a life. `store` is an expression; `entry` imports what it needs. */
export async function writeLife(folder: string, imports: string, store: string): Promise<string> {
  const source = join(folder, 'life.ts')
  const live = JSON.stringify(join(root, 'test/support/killed-life.ts'))
  await writeFile(
    source,
    `${imports}\nimport { live } from ${live}\nconst store = ${store}\nawait live(store, process.argv[3], Number(process.argv[4]))\n`,
  )
  await build({
    configFile: join(root, 'vite.config.ts'),
    root,
    logLevel: 'error',
    publicDir: false,
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

interface Ended {
  readonly transcript: unknown[]
}

interface Told {
  readonly began?: string
  readonly did?: string
  readonly name?: string
  readonly asked?: string
}

/** One life, killed with SIGKILL at one of its steps; without an end if it was killed before. */
async function liveAndDie(program: string, place: string, effects: string, seed: number, diesAt: number | undefined) {
  const child = fork(program, [place, effects, String(seed)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let ended: Ended | undefined
  let trouble = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  child.stderr?.on('data', (data) => {
    trouble += data
  })
  let steps = 0
  child.on('message', (message: { step?: unknown; ended?: Ended }) => {
    ended = message.ended ?? ended
    // it goes on until the signal arrives, so it dies anywhere behind that step
    if (steps++ === diesAt) timer = setTimeout(() => child.kill('SIGKILL'), seed % 4)
  })
  const signal = await new Promise<string | null>((resolve) => child.once('exit', (_code, by) => resolve(by)))
  clearTimeout(timer)
  if (ended === undefined && signal !== 'SIGKILL') throw new Error(`a life failed: ${trouble}`)
  return { ended, isKilled: signal === 'SIGKILL' }
}

/** Runs one session through lives that are killed, until one comes to its end. Returns how many were killed. */
export async function runKilled(program: string, place: string, home: string, store: JournalStore, seed: number) {
  const effects = join(home, `effects-${seed}.jsonl`)
  let kills = 0
  for (let life = 0; ; life++) {
    const dies = life < 12 ? (seed * 7_919 + life * 104_729) % 17 : undefined
    const { ended, isKilled } = await liveAndDie(program, place, effects, seed * 100 + life, dies)
    if (isKilled) kills++
    if (ended === undefined) continue
    const problems = await judge(store, ended, effects)
    if (problems.length > 0) throw new Error(`seed ${seed}: ${problems.join('; ')}`)
    await rm(effects, { force: true })
    return kills
  }
}

async function judge(store: JournalStore, ended: Ended, effects: string): Promise<string[]> {
  const problems: string[] = []
  const told: Told[] = existsSync(effects)
    ? (await readFile(effects, 'utf8'))
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []
  const records: JournalRecord[] = []
  for await (const record of store.read('s')) records.push(record)
  const all = [...records]
  const agents = new Set(records.flatMap(({ t, session }) => (t === 'agent.started' ? String(session) : [])))
  for (const session of agents) for await (const record of store.read(session)) all.push(record)
  // the run may have ended in a life that was killed behind it
  const { reason } = foldJournal(records)
  if (reason !== 'completed') problems.push(`it ended ${reason}`)
  if (!checkTranscript(ended.transcript as never).ok) problems.push('the transcript is not valid')
  if (JSON.stringify(foldJournal(records).transcript) !== JSON.stringify(ended.transcript))
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
