import { fork } from 'node:child_process'
import { summaryOf } from '../statistics.mjs'

const script = new URL('../long-query-process.mjs', import.meta.url)

/** The cost of a turn early and late in one query of many turns, each time in a fresh process. */
export async function measureLongQuery({ longQuery: { turns, rounds } }, tell) {
  const answers = []
  for (let round = 0; round < rounds; round++) answers.push(await measureOnce(turns))
  tell('long query measured')
  return {
    turns,
    early: summaryOf(answers.map(({ early }) => early)),
    late: summaryOf(answers.map(({ late }) => late)),
    ratio: summaryOf(answers.map(({ early, late }) => late / early)),
  }
}

function measureOnce(turns) {
  return new Promise((resolve, reject) => {
    const child = fork(script, [String(turns)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    let answer
    child.on('message', (message) => {
      answer = message
    })
    child.on('exit', (code) => {
      if (answer === undefined) reject(new Error(`a long query: its process ended with ${code}`))
      else resolve(answer)
    })
  })
}
