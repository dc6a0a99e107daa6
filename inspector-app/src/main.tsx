import { ready } from 'virtual:chart-layouts'
import { render } from 'preact'
import './style.css'
import { App } from './app.tsx'
import { Layouts } from './chart/layouts.ts'
import { readLink } from './deep-link.ts'
import { connect } from './feed/connect.ts'
import { keepInBrowser } from './keep.ts'
import { Store } from './store.ts'

const store = new Store({ keep: keepInBrowser, layouts: new Layouts({ keep: keepInBrowser, ready }) })
render(<App store={store} />, document.getElementById('app') as HTMLElement)

function openAddress(): void {
  store.link = readLink(location.hash)
  const given = new URLSearchParams(location.hash.slice(1))
  const token = given.get('token')
  if (token !== null) connect(store, given.get('at') ?? location.origin, token)
}

openAddress()
// an address that differs only after its # loads no page: another token, or a link to another moment
addEventListener('hashchange', openAddress)
