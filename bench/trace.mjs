// Replays a trace with the shape of published agent traces through the executor, on a simulated clock, and adds up the
// response time: from the start of a reply until the last result of its calls. Then replays the same steps as whole
// conversations, with background calls. node bench/trace.mjs [--steps 3000] [--seed 1]. Needs a build.
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { allowAllTools, createAssistantMessage, query, StreamingToolExecutor } from '../dist/src/index.js'
import { simulatedClock } from '../dist/src/testing/index.js'

const { values } = parseArgs({
  options: { steps: { type: 'string', default: '3000' }, seed: { type: 'string', default: '1' } },
})

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const random = randomFrom(Number(values.seed))
const exponential = (mean) => -Math.log(1 - random()) * mean

/** 1.2 calls per step, median 1, 90th percentile 2. */
const callsOf = (dice) => (dice < 0.86 ? 1 : dice < 0.96 ? 2 : dice < 0.99 ? 3 : 4)

/** 4 % of the calls take more than a minute and 85 % of the time; 76 % are shell calls, and the long ones among them. */
function newCall() {
  const isLong = random() < 0.04
  const ms = isLong ? 60_000 + exponential(120_000) : exponential(1_320)
  // the share of commands and of other calls that only read is assumed
  if (isLong || random() < 0.75) return { kind: 'Shell', isRead: random() < 0.4, ms }
  return { kind: 'File', isRead: random() < 0.6, ms, file: `/src/${Math.floor(random() * 40)}.ts` }
}

const newStep = () => {
  const calls = Array.from({ length: callsOf(random()) }, newCall)
  // 41 % of the time is the model's
  return { calls, replyMs: 1_000 + exponential(6_000) }
}

const steps = Array.from({ length: Number(values.steps) }, newStep)

const schema = z.looseObject({})
const flush = () => new Promise((resolve) => setImmediate(resolve))

function toolsFor(clock, hasKeys, afterMs) {
  const tool = (name, resources) => ({
    name,
    inputSchema: schema,
    isConcurrencySafe: ({ isRead }) => isRead,
    ...(hasKeys && { resources }),
    ...(afterMs !== undefined && { background: { afterMs } }),
    call: ({ ms }) => new Promise((resolve) => clock.setTimeout(() => resolve({ data: 'ok' }), ms)),
  })
  const all = ({ isRead }) => (isRead ? { reads: ['*'] } : { writes: ['*'] })
  const one = ({ isRead, file }) => (isRead ? { reads: [`file:${file}`] } : { writes: [`file:${file}`] })
  return [tool('Shell', all), tool('File', one)]
}

/** How long one step takes. */
async function play({ calls, replyMs }, { hasKeys, streams }) {
  const clock = simulatedClock()
  const executor = new StreamingToolExecutor(toolsFor(clock, hasKeys), allowAllTools, {}, { clock })
  const message = createAssistantMessage([])
  // blocks close one after the other in the second half of the reply; the text comes before them
  const closesAt = (at) => (streams ? replyMs * (0.5 + (0.5 * (at + 1)) / calls.length) : replyMs)
  for (const [at, { kind, ...input }] of calls.entries()) {
    clock.setTimeout(() => {
      const block = { type: 'tool_use', id: `c${at}`, name: kind, input }
      executor.addTool(block, message, { hold: !input.isRead })
      // a call with effects starts when the stream has gone on
      if (at > 0) executor.release(`c${at - 1}`)
    }, closesAt(at))
  }
  clock.setTimeout(() => executor.release(`c${calls.length - 1}`), replyMs)
  for (let left = calls.length; left > 0; ) {
    clock.increment(clock.nextDueIn ?? 0)
    await flush()
    for (const { message } of executor.getCompletedResults()) if (message.type === 'user') left--
  }
  return Math.max(clock.now(), replyMs)
}

/** One call after the other, when the reply is complete. */
const oneByOne = ({ calls, replyMs }) => calls.reduce((sum, { ms }) => sum + ms, replyMs)

const rules = {
  'one call after the other': oneByOne,
  'wait for all: safe calls in parallel, after the reply': (step) => play(step, { hasKeys: false, streams: false }),
  'safe and unsafe calls, during the reply': (step) => play(step, { hasKeys: false, streams: true }),
  'resource keys, during the reply': (step) => play(step, { hasKeys: true, streams: true }),
}

const isWide = ({ calls }) => calls.length > 1
const rows = []
for (const [name, rule] of Object.entries(rules)) {
  let [all, wide] = [0, 0]
  for (const step of steps) {
    const ms = await rule(step)
    all += ms
    if (isWide(step)) wide += ms
  }
  rows.push({ name, all, wide })
}

const [, wait] = rows
const wideSteps = steps.filter(isWide).length
const seconds = (ms, count) => (ms / count / 1_000).toFixed(2)
const saved = (ms, than) => `${((1 - ms / than) * 100).toFixed(1)} %`
const share = (count, of) => `${((count / of) * 100).toFixed(0)} %`
const calls = steps.flatMap((step) => step.calls)
const toolMs = calls.reduce((sum, { ms }) => sum + ms, 0)
const longMs = calls.filter(({ ms }) => ms > 60_000).reduce((sum, { ms }) => sum + ms, 0)
console.log(
  `${steps.length} steps, ${(calls.length / steps.length).toFixed(2)} calls per step, ` +
    `${share(calls.filter(({ kind }) => kind === 'Shell').length, calls.length)} shell, ` +
    `${share(longMs, toolMs)} of the tool time in the ${share(calls.filter(({ ms }) => ms > 60_000).length, calls.length)} longest calls\n`,
)
console.log('| rules | seconds per step | saved | seconds per step with several calls | saved |')
console.log('|---|---:|---:|---:|---:|')
for (const { name, all, wide } of rows) {
  const cells = [seconds(all, steps.length), saved(all, wait.all), seconds(wide, wideSteps), saved(wide, wait.wide)]
  console.log(`| ${name} | ${cells.join(' | ')} |`)
}

const stepsPerConversation = 20
/** Longer calls go to the background. */
const afterMs = 30_000
/** The last reply, and each one in which the model only hears of an outcome. */
const shortReplyMs = 2_000

/** Streams the steps one after the other, whatever the results say: the model always has something to go on with. */
function modelOf(clock, conversation) {
  const sleep = (ms) => new Promise((resolve) => clock.setTimeout(resolve, ms))
  let next = 0
  return async function* () {
    const at = next++
    const { calls, replyMs } = conversation[at] ?? { calls: [], replyMs: shortReplyMs }
    yield { type: 'message_start', message: { id: `msg_${at}`, model: 'trace' } }
    await sleep(calls.length === 0 ? replyMs : replyMs / 2)
    yield { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
    yield { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'So.' } }
    yield { type: 'content_block_stop', index: 0 }
    for (const [n, { kind, ...input }] of calls.entries()) {
      const index = n + 1
      await sleep(replyMs / 2 / calls.length)
      yield {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `${at}_${n}`, name: kind, input: {} },
      }
      yield {
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      }
      yield { type: 'content_block_stop', index }
    }
    yield { type: 'message_delta', delta: { stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use' } }
    yield { type: 'message_stop' }
  }
}

/** How long a conversation takes, until its last background call is over and the model has heard of it. */
async function converse(conversation, { hasKeys, hasBackground, toolExecution }) {
  const clock = simulatedClock()
  const run = query({
    messages: 'go',
    tools: toolsFor(clock, hasKeys, hasBackground ? afterMs : undefined),
    model: modelOf(clock, conversation),
    canUseTool: allowAllTools,
    executor: { clock },
    toolExecution,
  })
  const read = (async () => {
    for await (const _ of run);
  })()
  void read
  for (; run.result === undefined; await flush()) clock.increment(clock.nextDueIn ?? 0)
  if (run.result.reason !== 'completed') throw new Error(`A conversation ended with ${run.result.reason}.`)
  return clock.now()
}

const conversations = Array.from({ length: Math.floor(steps.length / stepsPerConversation) }, (_, n) =>
  steps.slice(n * stepsPerConversation, (n + 1) * stepsPerConversation),
)
const ways = {
  'wait for all': { toolExecution: 'batch' },
  'safe and unsafe calls, during the reply': {},
  'resource keys': { hasKeys: true },
  'background calls': { hasBackground: true },
  'resource keys and background calls': { hasKeys: true, hasBackground: true },
}
console.log(
  `\n${conversations.length} conversations of ${stepsPerConversation} steps; calls go to the background after ${afterMs / 1_000} s\n`,
)
console.log('| rules | seconds per conversation | saved |')
console.log('|---|---:|---:|')
let most
for (const [name, way] of Object.entries(ways)) {
  let total = 0
  for (const conversation of conversations) total += await converse(conversation, way)
  most ??= total
  console.log(`| ${name} | ${seconds(total, conversations.length)} | ${saved(total, most)} |`)
}
