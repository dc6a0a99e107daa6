import { useState } from 'preact/hooks'
import { type Agents, agentRuns, isOver, type Turn, turnOf } from '../model/conversation.ts'
import type { Call, Run } from '../model/model.ts'
import { isIn, type TimeRange, touchesRange } from '../model/time-range.ts'
import { useStore, useView } from '../use-view.ts'
import { agentWords, backgroundTone, replyWords, toneOf } from '../words.ts'
import { callState } from './call-state.ts'
import { MiddleCut } from './middle-cut.tsx'
import { Said } from './said.tsx'
import { Still } from './still.tsx'

interface Props {
  readonly run: Run
  /** Undefined: no turn, because no reply came. */
  readonly number: number | undefined
  readonly agents: Agents
  /** Its reply does not count. */
  readonly isDiscarded: boolean
}

const mostItems = 60

/** One turn. Redrawn only when something in it, or in its agents, changed. */
export function ConversationTurn({ run, number, agents, isDiscarded }: Props) {
  const store = useStore()
  const { state, run: shownRun, call: chosen, isChosen } = useView()
  const [isWhole, setWhole] = useState(false)
  const isOwn = shownRun === run || agentRuns([run], agents).some((agent) => agent === shownRun)
  const selected = isOwn && isChosen && chosen !== undefined ? keyOf(shownRun, chosen) : undefined
  const pick: Pick = {
    run: (id) => store.set({ run: id, selected: undefined }),
    call: (id, call) => store.choose(id, call),
  }
  const changes = [run, ...agentRuns([run], agents)].map((each) => `${each.version} ${each.talk} ${isOver(each)}`)
  return (
    <li class={shownRun === run ? 'turn shown' : 'turn'}>
      <Still
        of={[run, changes.join(), selected, shownRun?.id, isWhole, number, isDiscarded, state.source, state.range]}
        draw={() => (
          <TurnBody
            {...{ run, number, agents, isDiscarded, selected, pick, isWhole }}
            isLive={state.source === 'live'}
            range={state.range}
            showAll={() => setWhole(true)}
          />
        )}
      />
    </li>
  )
}

/** Ids of calls may repeat in other runs. */
const keyOf = (run: Run | undefined, { id }: Call): string => `${run?.id} ${id}`

interface Pick {
  run(id: number): void
  call(run: number, call: string): void
}

interface BodyProps extends Props {
  readonly selected: string | undefined
  readonly pick: Pick
  readonly isWhole: boolean
  readonly isLive: boolean
  readonly range: TimeRange | undefined
  readonly showAll: () => void
}

function TurnBody(props: BodyProps) {
  const { run, number, agents, isDiscarded, selected, pick, isWhole, isLive, range, showAll } = props
  const { items: all, totals } = turnOf(run, agents)
  const items = all.filter((item) =>
    item.kind === 'said' ? isIn(range, item.said.at) : touchesRange(range, item.call),
  )
  const shown = isWhole ? items : items.slice(0, mostItems)
  return (
    <>
      <h3>
        <button type="button" title={run.title} onClick={() => pick.run(run.id)}>
          {number === undefined ? 'No reply' : `Turn ${number}`}
          {run.isContinued && ', continued'}
        </button>
        {isLive && !isDiscarded && !isOver(run) && run.replies.length === 0 && <span class="chip live">live</span>}
        {run.recovered !== undefined && (
          <span class="chip accent" title={`Recovered by ${run.recovered.by}`}>
            recovered
          </span>
        )}
        {isDiscarded && <span class="chip aborted">discarded</span>}
        {run.questions.length > 0 && <span class="chip held">asks you</span>}
        <span class="sum">{replyWords(totals)}</span>
      </h3>
      <ol class="items">
        {shown.map((item) =>
          item.kind === 'said' ? (
            <li key={`s${item.said.seq}`}>
              <Said said={item.said} />
            </li>
          ) : (
            <li key={item.call.id}>
              <CallLine run={run} call={item.call} selected={selected} pick={pick} />
              {item.agents.length > 0 && (
                <AgentRuns runs={item.agents} agents={agents} selected={selected} pick={pick} />
              )}
            </li>
          ),
        )}
        {items.length > shown.length && (
          <li>
            <button type="button" class="link" onClick={showAll}>
              and {items.length - shown.length} more
            </button>
          </li>
        )}
      </ol>
    </>
  )
}

function CallLine({ run, call, selected, pick }: { run: Run; call: Call; selected: string | undefined; pick: Pick }) {
  const { words, tone } = callState(run, call)
  const isSelected = keyOf(run, call) === selected
  return (
    <button
      type="button"
      class={isSelected ? 'line chosen' : 'line'}
      title={call.label}
      // the label is drawn in two parts, which would be read as two words
      aria-label={`#${call.index + 1} ${call.label} ${words}`}
      aria-current={isSelected ? 'true' : undefined}
      onClick={() => pick.call(run.id, call.id)}
    >
      <span class={`dot ${call.detached === undefined ? toneOf(call) : backgroundTone(call, call.detached.status)}`} />
      <span class="label">
        <span class="number">#{call.index + 1}</span> <MiddleCut text={call.label} />
      </span>{' '}
      <span class={tone === undefined ? 'state' : `state chip ${tone}`}>{words.replace(/(?<!,) /g, '\u00a0')}</span>
    </button>
  )
}

interface AgentProps {
  readonly runs: readonly Run[]
  readonly agents: Agents
  readonly selected: string | undefined
  readonly pick: Pick
}

/** The turns of a sub-agent, under the call that started it. */
function AgentRuns({ runs, agents, selected, pick }: AgentProps) {
  const [isWhole, setWhole] = useState(false)
  const items = itemsOf(runs, agents, isWhole ? Number.POSITIVE_INFINITY : mostItems)
  const hidden = runs.reduce((sum, { said, calls }) => sum + said.length + calls.length, 0) - items.length
  return (
    <div class="agent">
      <p class="sum" title="The agents that it started are included">
        agent · {agentWords(runs, agents)}
      </p>
      <ol class="items">
        {items.map(({ run, item }) =>
          item.kind === 'said' ? (
            <li key={`${run.id}s${item.said.seq}`}>
              <Said said={item.said} />
            </li>
          ) : (
            <li key={`${run.id}${item.call.id}`}>
              <CallLine run={run} call={item.call} selected={selected} pick={pick} />
              {item.agents.length > 0 && <AgentRuns runs={item.agents} {...{ agents, selected, pick }} />}
            </li>
          ),
        )}
        {hidden > 0 && (
          <li>
            <button type="button" class="link" onClick={() => setWhole(true)}>
              and {hidden} more
            </button>
          </li>
        )}
      </ol>
    </div>
  )
}

/** The first texts and calls of these runs. */
function itemsOf(runs: readonly Run[], agents: Agents, most: number): { run: Run; item: Turn['items'][number] }[] {
  const found: { run: Run; item: Turn['items'][number] }[] = []
  for (const run of runs) {
    if (found.length >= most) break
    for (const item of turnOf(run, agents).items) if (found.length < most) found.push({ run, item })
  }
  return found
}
