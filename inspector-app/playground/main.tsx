import { ready } from 'virtual:chart-layouts'
import { render } from 'preact'
import '../src/style.css'
import './playground.css'
import { App } from '../src/app.tsx'
import { Layouts } from '../src/chart/layouts.ts'
import { keepInBrowser } from '../src/keep.ts'
import { Store } from '../src/store.ts'
import { Panel } from './panel.tsx'
import { Play } from './play.ts'
import { scenarios } from './scenarios.ts'

declare global {
  /** For the console: `playground.executor.explain('toolu_03')`. */
  var playground: Play
}

const store = new Store({ keep: keepInBrowser, layouts: new Layouts({ keep: keepInBrowser, ready }) })
const play = new Play(store)
globalThis.playground = play

// the URL can choose a scenario and start paused: #scenario=permission&paused
const given = new URLSearchParams(location.hash.slice(1))
const chosen = scenarios.find(({ id }) => id === given.get('scenario')) ?? play.scenario
if (given.has('paused')) play.time({ isPaused: true })
play.choose(chosen)
render(<App store={store} aside={<Panel play={play} />} />, document.getElementById('app') as HTMLElement)
