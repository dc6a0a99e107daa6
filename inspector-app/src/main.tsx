import { render } from 'preact'
import './style.css'
import { App } from './app.tsx'
import { openCoverage } from './feed/coverage-file.ts'
import { openLiveFeed } from './feed/live-feed.ts'
import { readRecording } from './feed/recorded-feed.ts'
import type { Store } from './store.ts'
import { createStore } from './use-view.ts'

const store = createStore()
document.documentElement.dataset.theme = store.state.theme
render(<App store={store} />, document.getElementById('app') as HTMLElement)

const given = new URLSearchParams(location.hash.slice(1))
const token = given.get('token')
if (token !== null) connect(store, given.get('at') ?? location.origin, token)

function connect(into: Store, origin: string, secret: string): void {
  into.reset('connecting')
  into.feed = openLiveFeed(origin.replace(/^http/, 'ws'), secret, {
    onFrames: (frames) => into.take(frames),
    onHello: (source, commands, hasCoverage) => {
      into.set({ source, allowed: commands })
      if (hasCoverage) void loadCoverage(into, origin, secret)
      if (source === 'recording') void loadFromServer(into, origin, secret)
    },
    onLost: () => {
      if (into.state.source !== 'recording') into.set({ source: 'lost', allowed: [] })
    },
  })
}

async function loadCoverage(into: Store, origin: string, secret: string): Promise<void> {
  try {
    const response = await fetch(`${origin}/coverage`, { headers: { authorization: `Bearer ${secret}` } })
    if (!response.ok) throw new Error((await response.text()).trim())
    openCoverage(into, await response.text())
  } catch (error) {
    into.set({ problem: error instanceof Error ? error.message : 'The coverage cannot be read.' })
  }
}

async function loadFromServer(into: Store, origin: string, secret: string): Promise<void> {
  try {
    const response = await fetch(`${origin}/recording`, { headers: { authorization: `Bearer ${secret}` } })
    if (!response.ok || response.body === null) throw new Error((await response.text()).trim())
    await readRecording(response.body, (frames) => into.take(frames))
    if (into.history.isFull)
      into.set({ problem: 'The recording is longer than a browser can hold; this is its beginning.' })
  } catch (error) {
    into.set({ problem: error instanceof Error ? error.message : 'The recording cannot be read.' })
  }
}
