import { describe } from './answers/describe.mjs'
import { latency } from './answers/latency.mjs'
import { memory } from './answers/memory.mjs'
import { overlap } from './answers/overlap.mjs'
import { progress } from './answers/progress.mjs'
import { retained } from './answers/retained.mjs'
import { time } from './answers/time.mjs'
import { verify } from './answers/verify.mjs'
import { verifyRules } from './answers/verify-rules.mjs'
import { engineIn } from './load-engine.mjs'

/** Runs one engine and answers the parent's requests, one at a time. */
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
