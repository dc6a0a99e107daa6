import { subAgent } from 'signalbox/sub-agent'
import type { AnyTool, Model, Session } from '../../src/index.ts'
import { callBlock, textBlock } from '../../src/testing/held-model.ts'
import { later } from './asked-session.ts'
import { type Life, lives, readAll, settle, startReply, until } from './durable-lives.ts'
import { heldModel } from './held-model.ts'
import { heldTool } from './held-tool.ts'

const agentLives = new WeakMap<object, Life>()

/** A session whose model calls an agent, whose model calls Pay. Each life has models of its own. */
export function withAgent(options: Parameters<typeof lives>[1] = {}, deep = false) {
  const pay = heldTool('Pay')
  const models: Record<'agent' | 'deep', ReturnType<typeof heldModel>> = { agent: heldModel(), deep: heldModel() }
  const through =
    (name: 'agent' | 'deep'): Model =>
    (request) =>
      models[name].model(request)
  const inner = subAgent({ name: 'Deep', tools: [pay.tool], model: through('deep') })
  const agent = subAgent({ tools: deep ? [inner as AnyTool] : [pay.tool], model: through('agent') })
  const world = lives([agent as AnyTool], { context: { permissions: { allow: ['Agent', 'Deep'] } }, ...options })
  const life = async (more: Parameters<typeof world.begin>[0] = {}) => {
    models.agent = heldModel()
    models.deep = heldModel()
    return world.begin(more)
  }
  const idsOf = async () => {
    const ids: string[] = []
    for await (const { id } of world.journals.list()) ids.push(id)
    return ids.sort()
  }
  const recordsOf = async (id: string) => {
    const all: Record<string, unknown>[] = []
    for await (const record of world.journals.read(id)) all.push(record)
    return all
  }
  return {
    ...world,
    begin: life,
    pay,
    idsOf,
    recordsOf,
    /** The model of the agent, as a life of its own. */
    agentLife: (session: Session, name: 'agent' | 'deep' = 'agent'): Life => {
      const held = models[name]
      const known = agentLives.get(held) ?? { session, held }
      agentLives.set(held, known)
      return known
    },
  }
}

/** Two agents that may run side by side, each with a model of its own, whose calls of Pay wait for a person. */
export function twoAgents() {
  const pay = heldTool('Pay')
  const refused: string[] = []
  const say = (id: string): Model =>
    async function* ({ messages }) {
      const results = JSON.stringify(messages)
      const isOver = results.includes('tool_result')
      if (results.includes('not the second')) refused.push(id)
      yield { type: 'message_start', message: { id: `${id}_${isOver ? 2 : 1}`, model: id } }
      yield* isOver ? textBlock(0, `${id} is over`) : callBlock(0, id, 'Pay', '{}')
      yield { type: 'message_delta', delta: { stop_reason: isOver ? 'end_turn' : 'tool_use' } }
      yield { type: 'message_stop' }
    }
  const agent = (name: string): AnyTool =>
    subAgent({ name, tools: [pay.tool], model: say(name.toLowerCase()), isConcurrencySafe: true }) as AnyTool
  const world = lives([agent('One'), agent('Two')], {
    canUseTool: later,
    context: { permissions: { allow: ['One', 'Two'] } },
  })
  return {
    ...world,
    pay,
    refused,
    bothAsk: async (life: Life) => {
      const { held } = await startReply(life)
      held.call('a1', 'One', { prompt: 'pay' })
      held.call('a2', 'Two', { prompt: 'pay' })
      held.end('tool_use')
      await until(() => life.session.questions().length === 2 && life.session.status === 'suspended')
    },
  }
}

/** A reply with one call, in the session or in an agent. */
export async function callIn(life: Life, id: string, name: string, input: Record<string, unknown> = {}) {
  const { held } = await startReply(life)
  held.call(id, name, input)
  held.end('tool_use')
  await settle()
}

/** The agent has asked for Pay, which waits for a person. */
export async function asked(options: Parameters<typeof lives>[1] = {}, deep = false) {
  const world = withAgent({ canUseTool: later, ...options }, deep)
  const first = await world.begin()
  const seen = readAll(first.session.send('pay'))
  await callIn(first, 'a1', 'Agent', { prompt: 'pay it' })
  if (deep) {
    await callIn(world.agentLife(first.session), 'd1', 'Deep', { prompt: 'really pay it' })
    await callIn(world.agentLife(first.session, 'deep'), 'p1', 'Pay')
  } else await callIn(world.agentLife(first.session), 'p1', 'Pay')
  await until(() => first.session.questions().length > 0)
  return { ...world, first, seen }
}
