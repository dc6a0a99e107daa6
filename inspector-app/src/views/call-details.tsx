import { givenUp } from '../../../src/inspect/index.ts'
import { type Agents, agentOf, agentsByCall } from '../model/conversation.ts'
import { lockWaitOf } from '../model/lock-wait.ts'
import type { Call, Run } from '../model/model.ts'
import { awaited, awaitedWords } from '../model/server-state.ts'
import { useStory } from '../story/use-story.ts'
import { useStore, useView } from '../use-view.ts'
import { agentWords, type BackgroundStatus, duration, outcomeOf, stateWords, toneOf, whyWaiting } from '../words.ts'
import { CallEvidence } from './call-evidence.tsx'
import { Sentences } from './story.tsx'
import { useNow } from './use-now.ts'
import { ValueTree } from './value-tree.tsx'

/** Details of the selected call: why it waits, its phases and its result. */
export function CallDetails() {
  const { model, run, call } = useView()
  const now = useNow()
  if (run === undefined || call === undefined) return <p class="empty">No call yet.</p>
  const tone = toneOf(call)
  const agents = agentsByCall(model)
  const agent = agentOf(agents, run, call.id)
  return (
    <div class="call-details">
      <header>
        <span class={`dot ${tone}`} />
        <h3>
          <span class="number">#{call.index + 1}</span> {call.label}
        </h3>
        <span class="state-words">{stateWords(call)}</span>
        <code>{call.id}</code>
      </header>
      <Detach run={run} call={call} />
      {call.wait !== undefined && <Why run={run} call={call} now={now} />}
      <Awaited call={call} now={now} />
      <WaitsForKey call={call} now={now} />
      <Phases call={call} now={now} />
      <dl>
        <dt>Class</dt>
        <dd>
          {classWords(call)}
          {call.stopsAtInterrupt ? ', stops at an interrupt' : ', finishes at an interrupt'}
        </dd>
        <Waited run={run} call={call} />
        <AgentCost agent={agent} agents={agents} />
        {call.isGivenUp && (
          <>
            <dt>Result</dt>
            <dd>{givenUp.long}</dd>
          </>
        )}
        {call.ending !== undefined && (
          <>
            <dt>Ended</dt>
            <dd>{endingWords(call)}</dd>
          </>
        )}
        {call.progress !== undefined && (
          <>
            <dt>Progress</dt>
            <dd>
              {call.progress.count} ×{' '}
              {agent.length > 0 ? (
                'messages of its agent, in the conversation'
              ) : (
                <ValueTree value={call.progress.data} />
              )}
            </dd>
          </>
        )}
      </dl>
      <CallEvidence run={run} call={call} />
      <OwnStory run={run} call={call} />
    </div>
  )
}

/** The selected call in a panel of its own, on a large page. */
export function CallPanel() {
  return (
    <section class="panel call-panel" aria-label="Selected call">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <div class="scroll" tabIndex={0}>
        <CallDetails />
      </div>
    </section>
  )
}

/** Only where the host allows it, the call runs, and a query can take it over. */
function Detach({ run, call }: { run: Run; call: Call }) {
  const store = useStore()
  const { state } = useView()
  const isLive = state.source === 'live' && state.position === undefined && run.isWatched
  const isCalling = call.segments.at(-1)?.path[1] === 'calling'
  if (!isLive || !isCalling || run.queryActor === undefined || !state.allowed.includes('detach')) return null
  return (
    <p class="detach">
      <button
        type="button"
        onClick={async () => {
          const problem = await store.feed?.command(run.id, 'detach', { call: call.id })
          if (problem !== undefined) store.set({ problem })
        }}
      >
        Send to the background
      </button>{' '}
      The conversation goes on without it. The model gets its result in a later turn.
    </p>
  )
}

/** The sentences of the story that are about this call. */
function OwnStory({ run, call }: { run: Run; call: Call }) {
  const told = useStory().told.filter((each) => each.run === run.id && each.call === call.id)
  if (told.length === 0) return null
  return (
    <>
      <h4>Story</h4>
      <Sentences told={told.slice(-50)} startedAt={run.startedAt} />
    </>
  )
}

/** The guard's reason: the rule, the blocking calls, and since when. */
function Why({ run, call, now }: { run: Run; call: Call; now: number }) {
  const store = useStore()
  if (call.wait === undefined) return null
  const { because, blockers, since } = call.wait
  return (
    <div class="why-box">
      <h4>Why does it wait?</h4>
      <p>
        {whyWaiting(run, call.wait)}, for {duration(now - since)}
      </p>
      <p class="rule">
        rule <code>{because}</code>
        {blockers.length > 0 && ' · waits for '}
        {blockers.slice(0, 8).map((id) => (
          <button type="button" key={id} class="link" onClick={() => store.select(id)}>
            {run.byId.get(id)?.label ?? id}
          </button>
        ))}
        {blockers.length > 8 && ` and ${blockers.length - 8} more`}
      </p>
    </div>
  )
}

/** Why it waited before it started, and for how long. */
function Waited({ run, call }: { run: Run; call: Call }) {
  const store = useStore()
  const over = call.waited.filter(({ since, until }) => until !== undefined && until - since >= 1)
  if (over.length === 0) return null
  return (
    <>
      <dt>Waited</dt>
      <dd class="waited">
        <ol>
          {over.map((wait) => (
            <li key={wait.since}>
              {duration((wait.until ?? wait.since) - wait.since)}: {whyWaiting(run, wait)} (<code>{wait.because}</code>){' '}
              {wait.blockers.slice(0, 8).map((id) => (
                <button type="button" key={id} class="link" onClick={() => store.select(id)}>
                  {run.byId.get(id)?.label ?? id}
                </button>
              ))}
            </li>
          ))}
        </ol>
      </dd>
    </>
  )
}

/** Tokens and cost of the agent of this call, with the agents that it started. */
function AgentCost({ agent, agents }: { agent: readonly Run[]; agents: Agents }) {
  if (agent.length === 0) return null
  return (
    <>
      <dt>Agent</dt>
      <dd class="agent-cost">{agentWords(agent, agents)}</dd>
    </>
  )
}

/** The call runs but waits for its server. */
function Awaited({ call, now }: { call: Call; now: number }) {
  const store = useStore()
  const { model } = useView()
  const wait = awaited(model, call)
  if (wait === undefined) return null
  const { server, since } = wait
  return (
    <div class="why-box">
      <h4>Why does it wait?</h4>
      <p>
        {awaitedWords(server)}, for {duration(now - since)}
      </p>
      <p class="rule">
        <button type="button" class="link" onClick={() => store.set({ first: server.id })}>
          show its chart
        </button>
      </p>
    </div>
  )
}

/** The call runs but waits for a key. */
function WaitsForKey({ call, now }: { call: Call; now: number }) {
  const store = useStore()
  const { model } = useView()
  const wait = lockWaitOf(model, call)
  if (wait === undefined) return null
  return (
    <div class="why-box">
      <h4>Why does it wait?</h4>
      <p>
        {wait.words}, for {duration(now - wait.since)}
      </p>
      {wait.holders.length > 0 && (
        <p class="rule">
          show{' '}
          {wait.holders.map((holder) => (
            <button
              type="button"
              key={holder.call.id}
              class="link"
              onClick={() => store.choose(holder.run.id, holder.call.id)}
            >
              {holder.call.label}
            </button>
          ))}
        </p>
      )}
    </div>
  )
}

function Phases({ call, now }: { call: Call; now: number }) {
  const end = call.yieldedAt ?? now
  const whole = Math.max(end - call.addedAt, 0.001)
  const segments = phasesOf(call)
  return (
    <ol class="phases" aria-label="Phases">
      {segments.map(({ path, from, to }) => {
        const length = (to ?? end) - from
        return (
          <li key={`${from}-${path.join()}`}>
            <span class="name">{phaseName(path)}</span>
            <span class="bar">
              <i
                class={`segment ${path[0]} ${call.lane}`}
                style={{
                  marginLeft: `${((from - call.addedAt) / whole) * 100}%`,
                  width: `${Math.max(0.6, (length / whole) * 100)}%`,
                }}
              />
            </span>
            <time>{duration(length)}</time>
          </li>
        )
      })}
    </ol>
  )
}

export const phaseName = (path: readonly string[]): string =>
  ownPhaseNames.get(path[0]) ?? (path.length > 1 ? path.slice(1).join(' ▸ ') : (path[0] ?? ''))

const ownPhaseNames = new Map<string | undefined, string>([
  ['completed', 'held for order'],
  ['givenUp', givenUp.short],
])

/** Without the end. States that have the same name for a reader are one phase. */
function phasesOf({ segments }: Call): Call['segments'] {
  const phases: Call['segments'] = []
  for (const segment of segments) {
    const last = phases.at(-1)
    if (segment.path[0] === 'yielded') continue
    if (last !== undefined && phaseName(last.path) === phaseName(segment.path)) last.to = segment.to
    else phases.push({ ...segment })
  }
  return phases
}

function classWords({ lane, keys }: Call): string {
  if (lane === 'exclusive') return 'unsafe: runs alone'
  return keys === undefined
    ? 'safe: may run beside other safe calls'
    : 'may run beside calls whose resources do not conflict with its own'
}

const backgroundWords: Readonly<Record<BackgroundStatus, string>> = {
  running: 'goes on',
  stopping: 'is told to stop',
  finished: 'finished',
  failed: 'failed',
  stopped: 'was stopped',
  unknown: 'ended with an unknown outcome',
}

function endingWords(call: Call): string {
  const { ending, detached } = call
  if (ending === undefined) return ''
  if (ending.by === 'answer') return 'answered without running'
  if (ending.by === 'result') return outcomeOf(call) === 'error' ? 'with its own error' : 'with its own result'
  if (ending.by === 'journal') return 'in an earlier process; the result is from the log'
  if (ending.by === 'unknown') return 'with its process; it may or may not have taken effect'
  if (ending.by === 'background') {
    if (detached === undefined) return 'goes on in the background'
    const { id, from, to, status } = detached
    const after = to === undefined ? '' : ` after ${duration(to - from)}`
    return `for the model, by a note; as ${id} it ${backgroundWords[status]} in the background${after}`
  }
  const reached: Record<string, string> = {
    notStarted: 'before it started',
    underWay: 'while it ran',
    cutShort: 'and reported that it stopped early',
    returned: 'and returned; it may or may not have finished',
    finished: 'but it finished; its effects stand',
    abandoned: 'and did not stop; it was abandoned',
  }
  return `stopped: ${ending.kind ?? ''} ${reached[ending.reached ?? ''] ?? ''}`
}
