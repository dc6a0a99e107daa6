import { useState } from 'preact/hooks'
import { agentsByCall, isConversation, totalsOf, turnsOf } from '../model/conversation.ts'
import { useStore, useView } from '../use-view.ts'
import { totalsWords } from '../words.ts'
import { ConversationTurn } from './conversation-turn.tsx'
import { Icon } from './icons.tsx'
import { TimeSpent } from './time-spent.tsx'
import { useRailScroll } from './use-rail-scroll.ts'

/** Older turns are drawn on demand. */
const mostTurns = 40

/** The conversation: prompt, thinking, text, calls and agents, turn by turn. Selecting anything selects it everywhere. */
export function Conversation() {
  const store = useStore()
  const { model, call, isChosen } = useView()
  const [shown, setShown] = useState(mostTurns)
  const turns = isConversation(model) ? turnsOf(model) : []
  const scrolled = useRailScroll(turns.length > 0, isChosen ? call : undefined)
  if (turns.length === 0) return null
  const agents = agentsByCall(model)
  const hidden = Math.max(0, turns.length - shown)
  return (
    <section class="panel conversation" aria-label="Conversation">
      <h2>
        <span class="title">Conversation</span>
        <span class="sum">{totalsWords(totalsOf(model.runs.values()), turns.length)}</span>
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
        {hidden > 0 && (
          <button type="button" class="link earlier" onClick={() => setShown(shown + 200)}>
            show {Math.min(200, hidden)} of {hidden} earlier turns
          </button>
        )}
        <ol>
          {turns.slice(hidden).map((run, at) => (
            <ConversationTurn key={run.id} run={run} number={hidden + at + 1} agents={agents} />
          ))}
        </ol>
      </div>
    </section>
  )
}
