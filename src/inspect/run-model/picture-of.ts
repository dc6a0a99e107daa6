import type { Encoded } from '../frames/encode-value.ts'
import { type Frame, type FrameBody, frameVersion } from '../frames/frame.ts'
import type { ActorIn } from './run-listener.ts'
import type { CallState, CastState, RunModel, RunState, ServerState } from './run-state.ts'

/** A model as frames that a new reader can begin with, such as a recording whose first frames are no longer there. */
export function pictureOf<Run extends RunState, Server extends ServerState>(
  { epoch, seq, at, runs, servers }: RunModel<Run, Server>,
  contextOf: (actor: ActorIn<Run>) => Encoded,
): Frame[] {
  const stamp = (run: number) => (body: FrameBody) => ({ seq: Math.max(0, seq), at, run, ...body }) as Frame
  return [
    stamp(0)({ type: 'head', version: frameVersion, epoch }),
    ...[...servers.values()].flatMap((server) => serverFrames(server, contextOf as never).map(stamp(server.id))),
    ...[...runs.values()].flatMap((run) => runFrames(run, contextOf as never).map(stamp(run.id))),
  ]
}

type ContextOf = (actor: unknown) => Encoded

const serverFrames = (server: ServerState, contextOf: ContextOf): FrameBody[] => [
  { type: 'server', name: server.name, root: server.root },
  ...castFrames(server, contextOf),
  ...Array.from(server.waiting.keys(), (call) => ({ type: 'waiting', call, isWaiting: true }) as const),
]

function castFrames({ charts, actors }: CastState, contextOf: ContextOf): FrameBody[] {
  return [
    ...Array.from(charts.values(), (chart) => ({ type: 'chart', chart }) as const),
    ...Array.from(actors.values(), (actor) => {
      const { id, chart, parent, active } = actor
      return { type: 'actor', actor: id, chart, parent, active, context: contextOf(actor) } as const
    }),
  ]
}

function runFrames(run: RunState, contextOf: ContextOf): FrameBody[] {
  const { title, maxConcurrency, root, parentToolUseID, recovered, isContinued, tellsGuards } = run
  const { cursor, waits, can, questions } = run
  return [
    {
      type: 'run',
      title,
      isLate: true,
      maxConcurrency,
      root,
      ...(parentToolUseID !== undefined && { parentToolUseID }),
      ...(!tellsGuards && { guards: 'unavailable' as const }),
      ...(recovered !== undefined && { recovered }),
      ...(isContinued && { isContinued }),
    },
    ...castFrames(run, contextOf),
    ...run.said.map(({ by, text }) => ({ type: 'said', by, text }) as const),
    ...run.calls.flatMap(callFrames),
    ...run.replies.map(bodyOf),
    { type: 'schedule', cursor, waits },
    { type: 'can', commands: can },
    { type: 'questions', open: questions },
    ...Array.from(
      run.background.values(),
      ({ id, call, name, label, status }) => ({ type: 'background', id, call, name, label, status }) as const,
    ),
  ]
}

function callFrames(state: CallState): FrameBody[] {
  const { id: call, actor, index, name, label, input, lane, stage, keys, stopsAtInterrupt, ending, decision } = state
  return [
    {
      type: 'call',
      call,
      actor,
      index,
      name,
      label,
      input,
      lane,
      stage,
      stopsAtInterrupt,
      ...(keys !== undefined && { keys }),
    },
    ...(ending === undefined ? [] : [{ type: 'ending', call, ...ending } as const]),
    ...(state.place === undefined ? [] : [{ type: 'place', call, ...placeIn(state.place) } as const]),
    ...(state.lockWait === undefined ? [] : [{ type: 'locks', call, ...locksIn(state.lockWait) } as const]),
    ...[state.asked, decision].flatMap((each) =>
      each === undefined ? [] : [{ type: 'decision', call, behavior: each.behavior, source: each.source } as const],
    ),
    ...state.failures.map(bodyOf),
    ...state.results.map(bodyOf),
  ]
}

/** A frame without its stamp. */
function bodyOf({ seq: _seq, at: _at, run: _run, ...body }: Frame): FrameBody {
  return body as FrameBody
}

const placeIn = ({ place, worker, waiting }: NonNullable<CallState['place']>) => ({ place, worker, waiting })
const locksIn = ({ key, holders }: NonNullable<CallState['lockWait']>) => ({ key, holders })
