import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isConversation } from './model/conversation.ts'
import { firstChart } from './model/first-chart.ts'
import { openQuestions } from './model/open-questions.ts'
import type { Store, View } from './store.ts'
import { useQuestionCount } from './use-question-count.ts'
import { StoreContext, ViewContext } from './use-view.ts'
import { CallChart } from './views/call-chart.tsx'
import { CallPanel } from './views/call-details.tsx'
import { ChartPanel } from './views/chart-panel.tsx'
import { Conversation } from './views/conversation.tsx'
import { CoverageBoard } from './views/coverage-board.tsx'
import { Finder } from './views/finder.tsx'
import { Help } from './views/help.tsx'
import { Inbox } from './views/inbox.tsx'
import { KeptNote, OddNote, RecoveredNote } from './views/kept-note.tsx'
import { useKeyboard } from './views/keyboard.ts'
import { Lanes } from './views/lanes.tsx'
import { Later } from './views/later.tsx'
import { Outside } from './views/outside.tsx'
import { QuestionNews } from './views/question-news.tsx'
import { Scrubber } from './views/scrubber.tsx'
import { Servers } from './views/servers.tsx'
import { SessionsDialog } from './views/sessions.tsx'
import { Tabs } from './views/tabs.tsx'
import { Timeline } from './views/timeline.tsx'
import { TopBar } from './views/top-bar.tsx'
import { useKeptFocus } from './views/use-kept-focus.ts'
import { useSplit } from './views/use-split.ts'
import { Welcome } from './views/welcome.tsx'

interface Props {
  readonly store: Store
  /** A separate page, or a box in a host's page. */
  readonly fit?: 'page' | 'box'
  /** Shown beside the inspector, in the same theme. */
  readonly aside?: ComponentChildren
}

/** Questions on top, the conversation left, lanes, timeline and charts beside it, details right, the scrubber at the bottom. */
export function App({ store, fit = 'page', aside }: Props) {
  const [, paint] = useState(0)
  // a layout effect, so that no update between the first two renders is missed
  useLayoutEffect(() => store.subscribe(() => paint((count) => count + 1)), [store])
  const outside = useRef<HTMLDivElement>(null)
  useSplit(store, outside)
  useKeyboard(store, fit === 'box' ? outside : undefined)
  useKeptFocus(outside)
  const view = store.view()
  const { run } = view
  useQuestionCount(fit === 'page', openQuestions(view).length)
  const first = firstChart(view.state, view.model, run)
  return (
    <StoreContext.Provider value={store}>
      <ViewContext.Provider value={view}>
        <Outside fit={fit} aside={aside} root={outside}>
          <TopBar />
          <div class="on-top">
            <QuestionNews />
            <Inbox />
          </div>
          {run === undefined && first !== undefined ? (
            <main class="board only-servers">
              <div class="strips">
                <Servers />
              </div>
              <ChartPanel id="executor" {...first} />
            </main>
          ) : run === undefined && view.state.coverage !== undefined ? (
            <CoverageBoard file={view.state.coverage} />
          ) : run === undefined ? (
            <Welcome />
          ) : (
            <main class={boardClass(view)}>
              {hasRail(view) && <Conversation />}
              <div class="above">
                <Lanes />
                <div class="strips">
                  <KeptNote />
                  <OddNote />
                  <RecoveredNote />
                  <Servers />
                </div>
              </div>
              <Later frames={1}>{first !== undefined && <ChartPanel id="executor" {...first} />}</Later>
              <Later frames={2}>
                <CallChart run={run} />
                <Timeline />
              </Later>
              <div class="facts">
                <Later frames={3}>
                  {view.state.isSplit && <CallPanel />}
                  <Tabs />
                </Later>
              </div>
            </main>
          )}
          <Scrubber />
          {view.state.dialog === 'find' && <Finder />}
          {view.state.dialog === 'help' && <Help />}
          {view.state.dialog === 'sessions' && <SessionsDialog />}
        </Outside>
      </ViewContext.Provider>
    </StoreContext.Provider>
  )
}

const hasRail = ({ state, model }: View): boolean => !state.isRailHidden && isConversation(model)

const boardClass = (view: View): string =>
  [
    'board',
    // the query's chart needs the room of both
    ...(view.state.first === 'query' ? ['wide-executor'] : []),
    ...(hasRail(view) ? ['railed'] : []),
    ...(view.state.isSplit ? ['split'] : []),
  ].join(' ')
