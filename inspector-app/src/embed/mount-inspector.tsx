import { render } from 'preact'
import { invalidOption } from '../../../src/base/invalid-option.ts'
import type { InspectorSource, MountedInspector, MountOptions } from '../../../src/inspect/app/index.ts'
import { App } from '../app.tsx'
import { Store } from '../store.ts'
import style from '../style.css?inline'
import boxStyle from './box.css?inline'
import { openSource } from './open-source.ts'
import { borrowLayouts } from './shared-layouts.ts'

let sheet: CSSStyleSheet | undefined

/** Renders the inspector into an element of the page. The inspector fills the element and changes nothing outside it. */
export function mountInspector(
  element: Element,
  source: InspectorSource,
  options: MountOptions = {},
): MountedInspector {
  if (!(element instanceof Element)) invalidOption('element', 'an element of the page', element)
  if (typeof source !== 'object' || source === null) invalidOption('source', 'an object', source)
  const { layouts, giveBack } = borrowLayouts(options.workerUrl)
  const store = new Store({ layouts, theme: options.theme ?? 'auto' })
  const box = document.createElement('div')
  const root = box.attachShadow({ mode: 'open' })
  let isMounted = true
  const unmount = (): void => {
    if (!isMounted) return
    isMounted = false
    store.close()
    render(null, root)
    box.remove()
    giveBack()
  }
  try {
    openSource(store, source)
    // a constructed style sheet also works where CSP forbids inline styles; all inspectors share one
    sheet ??= styleSheet()
    root.adoptedStyleSheets = [sheet]
    render(<App store={store} fit="box" />, root)
    element.append(box)
  } catch (error) {
    unmount()
    throw error
  }
  return { unmount }
}

function styleSheet(): CSSStyleSheet {
  const made = new CSSStyleSheet()
  made.replaceSync(boxStyle + style)
  return made
}
