import { fork } from 'node:child_process'
import { field } from '../engine-list.mjs'
import { summaryOf } from '../statistics.mjs'

const script = new URL('../startup-process.mjs', import.meta.url)

/** Import and first turn, each time in a fresh process, the engines in turns. */
export async function measureStartUp(clients, { startUps }, tell) {
  const rows = field.filter((name) => clients.has(name)).map((engine) => ({ engine, answers: [] }))
  // the first one reads the files from the disk
  for (let round = 0; round <= startUps; round++) {
    for (const { engine, answers } of rows) {
      const answer = await started(engine)
      if (round > 0) answers.push(answer)
    }
  }
  tell('start-up measured')
  return rows.map(({ engine, answers }) => ({
    engine,
    imported: summaryOf(answers.map(({ imported }) => imported)),
    firstTurn: summaryOf(answers.map(({ firstTurn }) => firstTurn)),
  }))
}

function started(engine) {
  return new Promise((resolve, reject) => {
    const child = fork(script, [engine], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
    let answer
    child.on('message', (message) => {
      answer = message
    })
    child.on('exit', (code) => {
      clearTimeout(timer)
      if (answer === undefined) reject(new Error(`${engine}: no start, its process ended with ${code}`))
      else resolve(answer)
    })
  })
}
