import { describe } from './answers/describe.mjs'
import { memory, retained } from './answers/memory.mjs'
import { progress } from './answers/progress.mjs'
import { latency, overlap } from './answers/stream.mjs'
import { time } from './answers/time.mjs'
import { verify, verifyRules } from './answers/verify.mjs'
import { engineIn } from './load-engine.mjs'

/** Runs one engine and does what the parent asks, one request at a time. */
const answers = { describe, verify, verifyRules, time, memory, retained, overlap, latency, progress }
const name = process.argv[2]
const engine = await engineIn(name)

process.on('message', async ({ command, ...request }) => {
  try {
    process.send({ answer: await answers[command](engine, request) })
  } catch (error) {
    process.send({ error: error instanceof Error ? error.stack : String(error) })
  }
})
process.send({ answer: 'ready' })
