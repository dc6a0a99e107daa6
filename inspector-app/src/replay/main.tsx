import { ready } from 'virtual:chart-layouts'
import { render } from 'preact'
import { App } from '../app.tsx'
import { Layouts } from '../chart/layouts.ts'
import { inflate, startPackedWorker } from '../chart/packed-worker.ts'
import { readLink } from '../deep-link.ts'
import { showRecording } from '../feed/show-recording.ts'
import { Store } from '../store.ts'
import style from '../style.css?inline'

/** The texts of the blocks of this kind. Each block is removed after reading, to save memory. */
function* blocksOf(kind: string): Generator<string> {
  for (const block of document.querySelectorAll(`script[type="application/x-signalbox-${kind}"]`)) {
    const text = block.textContent.trim()
    block.remove()
    yield text
  }
}

const sheet = new CSSStyleSheet()
sheet.replaceSync(style)
document.adoptedStyleSheets = [sheet]
const layouts = new Layouts({ start: () => startPackedWorker([...blocksOf('worker')].join('')), ready })
const store = new Store({ layouts })
store.link = readLink(location.hash)
addEventListener('hashchange', () => store.follow(readLink(location.hash)))
render(<App store={store} />, document.getElementById('app') as HTMLElement)
void showRecording(store, inflate(blocksOf('recording')))
