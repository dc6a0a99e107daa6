import { againstOf } from './model/against.ts'
import type { Store, Tab } from './store.ts'

/** The view that an address requests, beside its token. */
export interface DeepLink {
  /** A stored session. */
  readonly session?: string | undefined
  /** The stored session to compare it with. */
  readonly other?: string | undefined
  readonly run: number | undefined
  readonly call: string | undefined
  readonly tab: string | undefined
  /** The number of the frame after which the moment is. */
  readonly at: number | undefined
}

export function readLink(hash: string): DeepLink | undefined {
  const given = new URLSearchParams(hash.slice(1))
  const number = (name: string): number | undefined => {
    const value = Number(given.get(name) ?? Number.NaN)
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined
  }
  const link = {
    session: given.get('session') ?? undefined,
    other: given.get('with') ?? undefined,
    run: number('run'),
    call: given.get('call') ?? undefined,
    tab: given.get('tab') ?? undefined,
    at: number('frame'),
  }
  return Object.values(link).some((part) => part !== undefined) ? link : undefined
}

/** The address of what is shown now: session, comparison, run, call, tab and moment. */
export function linkTo(store: Store, href: string): string {
  const url = new URL(href)
  const parts = new URLSearchParams(url.hash.slice(1))
  const { state } = store
  const { run, call, isChosen, history } = store.view()
  const set = (name: string, value: string | number | undefined): void => {
    if (value === undefined) parts.delete(name)
    else parts.set(name, String(value))
  }
  set('session', state.session)
  set('with', state.session === undefined ? undefined : againstOf(history).session)
  set('run', run?.id)
  set('call', isChosen ? call?.id : undefined)
  set('tab', state.tab satisfies Tab)
  set('frame', state.position === undefined ? undefined : history.at(state.position - 1)?.seq)
  url.hash = parts.toString()
  return url.href
}
