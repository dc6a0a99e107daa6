import { expect, it, onTestFinished } from 'vitest'
import { History } from '../../../inspector-app/src/model/history.ts'
import { LogIndex, rowOf } from '../../../inspector-app/src/model/log-index.ts'
import type { Call, Model, Server } from '../../../inspector-app/src/model/model.ts'
import { reduce } from '../../../inspector-app/src/model/reduce.ts'
import { awaited, awaitedWords, serverState } from '../../../inspector-app/src/model/server-state.ts'
import {
  createActorFeed,
  createRecorder,
  type Frame,
  type FrameBody,
  frameLine,
  type RecorderOptions,
  readFrames,
} from '../../../src/inspect/index.ts'
import { callStatus } from '../../cli/src/view/call-status.ts'
import { SessionView } from '../../cli/src/view/session-view.ts'
import { eventually } from '../../tools/test/processes.ts'
import type { McpConnection } from '../src/index.ts'
import { connected, newToken, nothingLeft, programOf } from './support.ts'
import { startTurn } from './turn.ts'

const proxy = new URL('fault-proxy.mjs', import.meta.url).pathname
const faulty = (token: string) => ({
  command: process.execPath,
  args: [proxy, process.execPath, programOf('everything'), 'stdio'],
  env: { TOKEN: token },
})
/** Reconnects only when the test says so. */
const reconnect = { minMs: Number.POSITIVE_INFINITY, maxMs: Number.POSITIVE_INFINITY }

function recorded(options: RecorderOptions = {}) {
  const frames: Frame[] = []
  const recorder = createRecorder({ ...options, onFrame: (frame) => frames.push(frame) })
  return { frames, recorder, watch: (connection: McpConnection) => recorder.watch(connection) }
}
const of = <Type extends Frame['type']>(frames: readonly Frame[], type: Type) =>
  frames.filter((frame): frame is Extract<Frame, { type: Type }> => frame.type === type)
const onlyServer = ({ servers }: Model): Server => [...servers.values()][0] as Server
const callIn = ({ runs }: Model): Call => [...runs.values()][0]?.byId.get('call_0') as Call
const isWaiting = (frames: readonly Frame[]) => of(frames, 'waiting').at(-1)?.isWaiting === true

/** A server that died during a call: the call waits for it, and it reconnects only on demand. */
async function deadServer(options: RecorderOptions = {}, attach: 'first' | 'late' = 'first') {
  const token = newToken()
  onTestFinished(() => nothingLeft(token))
  const { frames, recorder, watch } = recorded(options)
  const onConnection = attach === 'first' ? watch : undefined
  const servers = { files: faulty(token) }
  const mcp = await connected({ servers, reconnect, waitMs: Number.POSITIVE_INFINITY, onConnection })
  const turn = startTurn(mcp.tools(), [['mcp__files__echo', { message: 'fault:die' }]])
  recorder.watch(turn.executor)
  await eventually(async () => [...(mcp.connections.get('files')?.waiting() ?? [])].length === 1)
  return { mcp, turn, frames, recorder, watch }
}

it('a connection is recorded from start to end, and a call that waits for it says so', async () => {
  const { mcp, turn, frames } = await deadServer()
  const down = reduce(frames)
  expect(serverState(onlyServer(down))).toEqual({
    state: 'backingOff',
    words: 'backing off',
    problem: expect.stringContaining('exited'),
  })
  const wait = awaited(down, callIn(down))
  expect(wait && awaitedWords(wait.server)).toMatch(/^waits for the server files \(backing off: .*exited/)

  const session = new SessionView()
  for (const frame of frames) session.take(frame)
  const call = session.find('call_0')
  expect(call && callStatus(call, session).words).toMatch(/^waits for the server files \(backing off: .*exited/)

  mcp.reconnect('files')
  // the same call kills it again, and no attempt is left; it is ready only for a moment
  expect((await turn.results())[0]).toContain('call_0 failed')
  await mcp.close()

  const [server] = of(frames, 'server')
  const number = server?.run
  const own = frames.filter(({ run }) => run === number)
  expect(own.slice(0, 3).map(({ type }) => type)).toEqual(['server', 'chart', 'actor'])
  expect(of(own, 'event').map(({ event }) => event)).toEqual([
    'connection.opened',
    'connection.lost',
    'connection.retry',
    'connection.opened',
    'connection.lost',
    'connection.close',
  ])
  expect(of(own, 'waiting').map(({ call, isWaiting }) => [call, isWaiting])).toEqual([
    ['call_0', true],
    ['call_0', false],
  ])
  // evaluated in order: it was not the last attempt, so it retries
  expect(of(own, 'guards')[0]?.candidates.map(([, answer]) => answer)).toEqual(['failed', 'passed'])
  const over = reduce(frames)
  expect([serverState(onlyServer(over)).state, onlyServer(over).actors.get(server?.root ?? '')?.isDone]).toEqual([
    'closed',
    true,
  ])
})

it('a late observer gets the current state and the waiting calls; an observer that left gets nothing more', async () => {
  const { mcp, frames, watch, recorder, turn } = await deadServer({}, 'late')
  const connection = mcp.connections.get('files') as McpConnection
  const { leave } = watch(connection)
  const model = reduce(frames)
  expect([serverState(onlyServer(model)).state, awaited(model, callIn(model))?.server.name]).toEqual([
    'backingOff',
    'files',
  ])
  // another reader begins with the same state
  const more: Frame[] = []
  recorder.follow((frame) => more.push(frame))()
  expect(serverState(onlyServer(reduce(more))).state).toBe('backingOff')
  leave()
  const before = frames.length
  turn.executor.abort('enough')
  await turn.results()
  await mcp.close()
  expect(frames.slice(before).filter(({ run }) => run === onlyServer(model).id)).toEqual([])
  expect(connection.waiting()).toEqual([])
})

it('a recording contains it step by step, and is read back unchanged', async () => {
  const { mcp, turn, frames } = await deadServer()
  turn.executor.abort('enough')
  await turn.results()
  await mcp.close()
  const lines = async function* () {
    for (const frame of frames) yield frameLine(frame)
  }
  const history = new History()
  for await (const frame of readFrames(lines())) history.push(frame)
  expect(history.model).toEqual(reduce(frames))
  const states = new Set<string>()
  for (let at = 0; at <= history.length; at++) {
    const [server] = history.modelAt(at).servers.values()
    if (server !== undefined && server.actors.size > 0) states.add(serverState(server).state)
  }
  expect([...states]).toEqual(['connecting', 'ready', 'backingOff', 'closed'])
  const run = of(frames, 'run')[0]?.run ?? 0
  const index = new LogIndex(history, run, 'all', 'files').update()
  const rows = index.rows.map((at) => rowOf(history.model.runs.get(run), history.at(at) as Frame, history.model))
  expect(rows.filter(({ who }) => who === 'files').map(({ what }) => what)).toEqual([
    'connecting → ready',
    'ready → backingOff',
    'backingOff → closed',
  ])
  expect(rows[1]?.detail).toMatch(/^on connection.lost: .*exited/)
})

const names = [
  '<img src=x onerror=alert(1)>',
  '\u001b[2J\u001b]0;owned\u0007a',
  `long${'g'.repeat(5_000)}`,
  'constructor',
]

it('a server may have any name, and no control characters reach a terminal', async () => {
  const { frames, watch } = recorded()
  const servers = Object.fromEntries(names.map((name) => [name, { command: '/nowhere/at/all' }]))
  const mcp = await connected({ servers, onConnection: watch })
  expect(of(frames, 'server').map(({ name }) => name)).toEqual(
    names.map((name) => (name.length > 2_000 ? expect.stringMatching(/^longg+…$/) : name)),
  )
  const model = reduce(frames)
  expect([...model.servers.values()].map((server) => serverState(server).state)).toEqual(names.map(() => 'failed'))
  const session = new SessionView()
  for (const frame of frames) session.take(frame)
  const [, hostile] = of(frames, 'server')
  session.take({ seq: 900, at: 1, run: hostile?.run ?? 0, type: 'waiting', call: 'a', isWaiting: true })
  expect(session.serverFor({ id: 'a' } as never)?.words).toMatch(
    /^waits for the server a \(failed: the server could not be/,
  )
  await mcp.close()
})

it('redacted values are not shown, and a redact that throws shows nothing', async () => {
  const places: unknown[] = []
  const hidden = recorded({
    redact: (value, where) => {
      places.push(where.server)
      return where.what === 'context' ? '(hidden)' : value
    },
  })
  const broken = recorded({
    redact: () => {
      throw new Error('no')
    },
  })
  const onConnection = (connection: McpConnection): void => {
    hidden.watch(connection)
    broken.watch(connection)
  }
  const mcp = await connected({ servers: { secret: { command: '/nowhere/at/all' } }, onConnection })
  expect(new Set(places)).toEqual(new Set(['secret']))
  expect(serverState(onlyServer(reduce(hidden.frames)))).toMatchObject({ state: 'failed', problem: undefined })
  expect(JSON.stringify(broken.frames)).not.toMatch(/nowhere|secret/)
  expect(of(broken.frames, 'server')[0]?.name).toBe('(withheld)')
  await mcp.close()
})

it('third-party inspectors get it as an actor', async () => {
  const seen: unknown[] = []
  const feed = createActorFeed({
    onActor: ({ title, chart, value }) => seen.push([title, chart.id, value]),
    onEvent: (_actor, { type }) => seen.push(type),
    onState: ({ value }) => seen.push(value),
    onEnd: ({ status }) => seen.push(status),
  })
  feed.begin()
  const servers = { docs: { command: '/nowhere/at/all' } }
  const mcp = await connected({ servers, onConnection: (connection) => void feed.add(connection) })
  await mcp.close()
  expect(seen).toEqual([
    ['docs', 'connection', 'connecting'],
    'connection.failed',
    'failed',
    'connection.close',
    'closed',
    'done',
  ])
})

it('errors of an observer have no effect', async () => {
  const onConnection = (connection: McpConnection): void => {
    connection.onWaiting(() => {
      throw new Error('no')
    })
    throw new Error('no')
  }
  const mcp = await connected({ servers: { docs: { command: '/nowhere/at/all' } }, onConnection })
  expect(mcp.servers()[0]?.state).toBe('failed')
  expect(() => recorded().recorder.watch({} as never)).toThrow('expected an executor or a connection')
})

it('any frames about servers can be read', () => {
  const bodies: (FrameBody & { run: number })[] = [
    { type: 'waiting', call: 'a', isWaiting: true, run: 9 },
    { type: 'server', name: 'x', root: 'none', run: 1 },
    { type: 'step', actor: 'none', event: 'e', transitions: [7, -1], active: [99], run: 1 },
    { type: 'waiting', call: '__proto__', isWaiting: true, run: 1 },
    { type: 'actor', actor: 'none', chart: 'gone', parent: null, active: [3], context: [1, 2], run: 1 },
    { type: 'schedule', waits: [], run: 1 },
    { type: 'result', call: 'a', message: 'm', isError: false, content: null, run: 1 },
  ]
  const frames = bodies.map((body, seq): Frame => ({ seq, at: seq, ...body }))
  const session = new SessionView()
  for (const frame of frames) session.take(frame)
  expect(serverState(onlyServer(reduce(frames)))).toEqual({ state: 'unknown', words: 'unknown', problem: undefined })
  expect(isWaiting(frames)).toBe(true)
  expect(session.serverFor({ id: '__proto__' } as never)?.words).toBe('waits for the server x (unknown)')
})
