import { fork } from 'node:child_process'
import { field } from '../engine-list.mjs'
import { summaryOf } from '../statistics.mjs'

const script = new URL('../startup-process.mjs', import.meta.url)

/** Import and first turn, each in a fresh process, engines alternating; and the imports of Signalbox alone. */
export async function measureStartUp(clients, { startUps }, tell) {
  const engines = field.filter((name) => clients.has(name)).map((name) => ['engine', name])
  const packages = ['../dist/src/index.js', 'xstate', 'zod'].map((name) => ['package', name])
  const rows = [...engines, ...packages].map(([kind, name]) => ({ kind, name, answers: [] }))
  // with several rounds, the first one only warms the disk cache
  for (let round = startUps > 1 ? 0 : 1; round <= startUps; round++) {
    for (const { kind, name, answers } of rows) {
      const answer = await started(kind, name)
      if (round > 0) answers.push(answer)
    }
  }
  tell('start-up measured')
  return rows.map(({ kind, name, answers }) => ({
    kind,
    engine: name,
    imported: summaryOf(answers.map(({ imported }) => imported)),
    ...(kind === 'engine' && { firstTurn: summaryOf(answers.map(({ firstTurn }) => firstTurn)) }),
  }))
}

function started(kind, name) {
  return new Promise((resolve, reject) => {
    const child = fork(script, [kind, name], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
    let answer
    child.on('message', (message) => {
      answer = message
    })
    child.on('exit', (code) => {
      clearTimeout(timer)
      if (answer === undefined) reject(new Error(`${name}: no start, its process ended with ${code}`))
      else resolve(answer)
    })
  })
}
