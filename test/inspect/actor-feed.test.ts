import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { callChart, executorChart, queryChart } from '../../machines/index.ts'
import { chartOf } from '../../src/inspect/frames/chart-definition.ts'
import {
  type ActorFeedOptions,
  type ActorListener,
  chartConfig,
  createActorFeed,
  createRecorder,
  FollowedActors,
  frameLine,
  readFrames,
  type SeenActor,
} from '../../src/inspect/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../support/turn.ts'

const charts = [executorChart(), callChart(), queryChart()] as const

/** A short form of the reports. */
function notes() {
  const told: string[] = []
  const last = new Map<string, SeenActor>()
  const note = (what: string) => (actor: SeenActor) => {
    last.set(actor.id, actor)
    told.push(`${what} ${actor.chart.id} ${JSON.stringify(actor.value)}`)
  }
  const listener: ActorListener = {
    onActor: note('actor'),
    onEvent: ({ chart }, { type }, from) =>
      void told.push(`event ${chart.id} ${type}${from === undefined ? '' : ` from ${from}`}`),
    onState: note('state'),
    onEnd: note('end'),
  }
  return { told, last, listener }
}

const setUp = (options: ActorFeedOptions = {}) => {
  const read = heldTool('Read', { safe: true, cancel: true })
  const turn = testTurn([read.tool])
  const seen = notes()
  const feed = createActorFeed(seen.listener, options)
  return { read, feed, ...turn, ...seen, leave: feed.add(turn.executor, { title: 'mine' }) }
}

describe('a chart written out again', () => {
  it.each(charts.map((machine) => [machine.id, machine] as const))('is the same chart: %s', (_, machine) => {
    const { definition } = chartOf(machine as never)
    const again = chartOf(createMachine(JSON.parse(JSON.stringify(chartConfig(definition)))) as never)
    expect(again.definition).toEqual(definition)
  })
})

describe('executors as actors', () => {
  it('are reported from begin() on', async () => {
    const { feed, add, told, read, executor } = setUp()
    add('a', 'Read')
    await flush()
    expect(told).toEqual([])
    feed.begin()
    feed.begin()
    expect(told).toEqual([
      'actor executor {"gate":"shared","run":"clear"}',
      'actor call {"executing":{"calling":"here"}}',
    ])
    told.length = 0
    read.run('a').finish()
    await flush()
    takeAll(executor)
    expect(told).toContain('event call tool.settled')
    expect(told).toContain('state call {"completed":"durable"}')
    expect(told.slice(-3)).toContain('end call "yielded"')
    feed.end()
    expect(told.at(-1)).toBe('end executor {"gate":"open","run":"clear"}')
    const { length } = told
    add('b', 'Read')
    feed.end()
    expect(told).toHaveLength(length)
  })

  it('have the same value as their snapshots at every moment', async () => {
    const { feed, add, last, read, executor } = setUp()
    feed.begin()
    const compare = () => {
      const calls = executor.actor.getSnapshot().context.run.calls
      const refs = [executor.actor, ...calls.flatMap(({ ref }) => (ref === undefined ? [] : [ref]))]
      for (const ref of refs) {
        expect(last.get(`1/${ref.sessionId}`)?.value).toEqual((ref.getSnapshot() as { value: unknown }).value)
      }
    }
    for (const id of ['a', 'b', 'c']) {
      add(id, 'Read')
      compare()
    }
    read.run('a').fail(new Error('no'))
    await flush()
    compare()
    executor.abort('interrupt')
    compare()
    for (const id of ['b', 'c']) read.run(id).finish()
    await flush()
    takeAll(executor)
    compare()
  })

  it('are identified by run, title, parent and last event', async () => {
    const { feed, add, last } = setUp()
    feed.begin()
    add('a', 'Read')
    await flush()
    const [root, call] = [...feed.actors()]
    expect(root).toMatchObject({ run: 1, title: 'mine', status: 'active' })
    expect(root?.parent).toBeUndefined()
    expect(call).toMatchObject({ parent: root?.id, context: { call: { $: 'call', id: 'a' } } })
    expect(last.get(call?.id ?? '')?.event).toEqual({ type: 'call.start' })
    feed.end()
    expect([...feed.actors()]).toEqual([])
  })

  it('can be followed from a recording as well', async () => {
    const { executor, add, read } = setUp()
    const lines: string[] = []
    const recorder = createRecorder({ onFrame: (frame) => lines.push(frameLine(frame)) })
    const { leave } = recorder.watch(executor)
    add('a', 'Read')
    await flush()
    read.run('a').finish()
    await flush()
    takeAll(executor)
    leave()
    const { told, listener } = notes()
    const followed = new FollowedActors(listener)
    const chunks = async function* () {
      yield* lines
    }
    for await (const frame of readFrames(chunks())) followed.take(frame)
    expect(told.filter((each) => each.startsWith('state call'))).toEqual([
      'state call "queued"',
      'state call {"executing":{"calling":"here"}}',
      'state call {"completed":"durable"}',
      'state call "yielded"',
    ])
    expect([...followed]).toEqual([])
  })

  it('a listener that throws does not affect the turn or later reports', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    const told: string[] = []
    const fail = (): never => {
      throw new Error('no')
    }
    const onState = ({ value }: SeenActor) => void told.push(JSON.stringify(value))
    const feed = createActorFeed({ onActor: fail, onEvent: fail, onState, onEnd: fail })
    feed.add(executor)
    feed.begin()
    add('a', 'Read')
    await flush()
    read.run('a').finish()
    await flush()
    expect(takeAll(executor)).toHaveLength(1)
    expect(told).toContain('"yielded"')
    feed.end()
  })

  it('are the only accepted values; others are rejected at once', () => {
    const { feed } = setUp()
    for (const odd of [null, 7, {}, { onExecutor: () => undefined }]) {
      expect(() => feed.add(odd as never)).toThrow('Expected an executor, a query or a connection to show')
    }
    expect(() => setUp({ allowCommands: 'abort' as never })).toThrow(
      'allowCommands: expected true or false, or an array',
    )
  })

  it('accept commands as the corresponding events', () => {
    const { feed, executor } = setUp({ allowCommands: ['interrupt', 'discard'] })
    const interrupt = { type: 'abort.userInterrupted', reason: 'interrupt' }
    expect(feed.ask('1/x:0', interrupt)).toBe('This actor no longer exists.')
    feed.begin()
    const [root] = [...feed.actors()]
    const ask = (event: unknown) => feed.ask(root?.id ?? '', event)
    for (const odd of [undefined, null, 7, 'abort', {}, { type: 'call.add' }])
      expect(ask(odd)).toContain('Unknown command')
    expect(ask({ type: 'abort.userInterrupted' })).toBe('The host does not allow this command.')
    expect(ask(interrupt)).toBeUndefined()
    expect(executor.actor.getSnapshot().value).toMatchObject({ run: 'interrupted' })
    expect(ask({ type: 'abort.streamingFallback' })).toBeUndefined()
    expect(ask({ type: 'abort.streamingFallback' })).toBe('The chart does not accept this command now.')
    feed.end()
  })
})
