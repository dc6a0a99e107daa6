import {
  agentsByCall,
  discardedRuns,
  isConversation,
  outermostRun,
  totalsOf,
  turnCount,
  turnNumbers,
  turnsOf,
} from '../model/conversation.ts'
import { touchesSpan } from '../model/time-range.ts'
import { useStore, useView } from '../use-view.ts'
import { totalsWords } from '../words.ts'
import { ConversationTurn } from './conversation-turn.tsx'
import { Icon } from './icons.tsx'
import { TimeSpent } from './time-spent.tsx'
import { useRailScroll } from './use-rail-scroll.ts'
import { nextTurns, useTurnSpan } from './use-turn-span.ts'

/** The conversation: prompt, thinking, text, calls and agents, turn by turn. Selecting anything selects it everywhere. */
export function Conversation() {
  const store = useStore()
  const { state, model, run: shown, call, isChosen } = useView()
  const all = isConversation(model) ? turnsOf(model) : []
  const numbers = turnNumbers(all)
  const discarded = discardedRuns(all)
  const turns = all
    .map((run, at) => ({ run, number: numbers[at] }))
    .filter(({ run }, at) => touchesSpan(state.range, run.startedAt, all[at + 1]?.startedAt))
  const own = shown === undefined ? undefined : outermostRun(model.runs, shown)
  // without a selection, the newest turns are of interest
  const selection = state.run === undefined && !isChosen ? '' : `${shown?.id} ${isChosen ? call?.id : ''}`
  const span = useTurnSpan(turns.length, selection, selection === '' ? -1 : turns.findIndex(({ run }) => run === own))
  const later = turns.length - span.last
  const scrolled = useRailScroll(
    all.length > 0,
    isChosen ? call : undefined,
    state.run === undefined ? undefined : shown,
  )
  if (all.length === 0) return null
  const agents = agentsByCall(model)
  return (
    <section class="panel conversation" aria-label="Conversation">
      <h2>
        <span class="title">Conversation</span>
        <span class="sum">{totalsWords(totalsOf(model.runs.values()), turnCount(numbers))}</span>
        <span class="spring" />
        <button
          type="button"
          aria-label="Hide the conversation"
          title="Hide (c)"
          onClick={() => store.set({ isRailHidden: true })}
        >
          <Icon name="back" />
        </button>
      </h2>
      <TimeSpent />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <div class="turns" tabIndex={0} {...scrolled}>
        {span.first > 0 && (
          <button type="button" class="link earlier" onClick={span.showEarlier}>
            show {nextTurns(span.first)} of {span.first} earlier turns
          </button>
        )}
        <ol>
          {turns.slice(span.first, span.last).map(({ run, number }) => (
            <ConversationTurn key={run.id} {...{ run, number, agents }} isDiscarded={discarded.has(run)} />
          ))}
        </ol>
        {later > 0 && (
          <button type="button" class="link earlier" onClick={span.showLater}>
            show {nextTurns(later)} of {later} later turns
          </button>
        )}
      </div>
    </section>
  )
}
