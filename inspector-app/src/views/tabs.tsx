import type { ComponentType } from 'preact'
import type { Tab } from '../store.ts'
import { useStore, useView } from '../use-view.ts'
import { AbortTree } from './abort-tree.tsx'
import { Against } from './against.tsx'
import { CallDetails } from './call-details.tsx'
import { ContextView } from './context-view.tsx'
import { GuardLedger } from './guard-ledger.tsx'
import { Log } from './log.tsx'
import { Rules } from './rules.tsx'
import { Sequence } from './sequence.tsx'
import { StoryView } from './story.tsx'
import { useChecks } from './use-checks.ts'
import { WhatIf } from './what-if.tsx'

const tabs: readonly { id: Tab; title: string; View: ComponentType }[] = [
  { id: 'story', title: 'Story', View: StoryView },
  { id: 'call', title: 'Call', View: CallDetails },
  { id: 'log', title: 'Log', View: Log },
  { id: 'guards', title: 'Guards', View: GuardLedger },
  { id: 'aborts', title: 'Aborts', View: AbortTree },
  { id: 'context', title: 'Context', View: ContextView },
  { id: 'sequence', title: 'Sequence', View: Sequence },
  { id: 'rules', title: 'Rules', View: Rules },
  { id: 'whatIf', title: 'What if', View: WhatIf },
  { id: 'compare', title: 'Compare', View: Against },
]

export function Tabs() {
  const store = useStore()
  const { state, run, model } = useView()
  let [refusals, aborts] = [0, 0]
  for (const each of model.runs.values()) {
    refusals += each.refusals.length
    aborts += each.aborts.length
  }
  const checks = useChecks()
  const broken = run === undefined ? 0 : checks.breaches(run.id).size
  const counts: Partial<Record<Tab, number>> = { guards: refusals, aborts, rules: broken }
  // the call has its own panel on a large page
  const offered = state.isSplit ? tabs.filter(({ id }) => id !== 'call') : tabs
  const { id: chosen, View } = (offered.find(({ id }) => id === state.tab) ?? offered[0]) as (typeof tabs)[number]
  const move = (from: Element, by: number): void => {
    const next = offered[(offered.findIndex(({ id }) => id === chosen) + by + offered.length) % offered.length]
    if (next === undefined) return
    store.set({ tab: next.id })
    from.parentElement?.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus()
  }
  return (
    <section class="panel details">
      <div class="tabs" role="tablist" aria-label="Details">
        {offered.map(({ id, title }) => (
          <button
            type="button"
            role="tab"
            key={id}
            id={`tab-${id}`}
            aria-selected={id === chosen}
            aria-controls="tab-panel"
            tabIndex={id === chosen ? 0 : -1}
            onClick={() => store.set({ tab: id })}
            onKeyDown={({ key, currentTarget }) => {
              if (key === 'ArrowRight') move(currentTarget, 1)
              if (key === 'ArrowLeft') move(currentTarget, -1)
            }}
          >
            {title}
            {counts[id] !== undefined && counts[id] > 0 && (
              <>
                {/* otherwise the number is read as a part of the word */}{' '}
                <em class={id === 'rules' ? 'wrong' : undefined}>{counts[id]}</em>
              </>
            )}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <div class="tab-panel" id="tab-panel" role="tabpanel" aria-labelledby={`tab-${chosen}`} tabIndex={0}>
        <View />
      </div>
    </section>
  )
}
