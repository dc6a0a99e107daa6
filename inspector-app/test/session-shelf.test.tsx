import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRecorder, type Frame, frameLine } from '../../src/inspect/index.ts'
import { flush, heldTool, heldTurn } from '../../src/testing/index.ts'
import { linkTo, readLink } from '../src/deep-link.ts'
import { sessionShelf } from '../src/feed/session-shelf.ts'
import { againstOf } from '../src/model/against.ts'
import { Store } from '../src/store.ts'

/** Two turns of one call each; the second fails in a broken one. */
async function recordingOf(isBroken: boolean): Promise<string> {
  const frames: Frame[] = []
  const recorder = createRecorder({ onFrame: (frame) => frames.push(frame) })
  for (const turn of [1, 2]) {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = heldTurn([read.tool])
    recorder.watch(executor, { title: `turn ${turn}` })
    add(`a${turn}`, 'Read')
    if (isBroken && turn === 2) read.run('a2').fail(new Error('gone'))
    else read.run(`a${turn}`).finish()
    await flush()
    for (const _ of executor.getCompletedResults());
  }
  return frames.map(frameLine).join('')
}

const answers = new Map<string, string>()

beforeEach(async () => {
  answers.set('/session?id=monday', await recordingOf(false)).set('/session?id=tuesday', await recordingOf(true))
  answers.set('/session?id=odd', 'not a recording\n')
  vi.stubGlobal('fetch', async (address: string) => {
    const text = answers.get(address.replace('http://host', ''))
    return text === undefined ? new Response('No such session.', { status: 404 }) : new Response(text)
  })
})
afterEach(() => vi.unstubAllGlobals())

function open(hash = '') {
  const store = new Store()
  store.link = readLink(hash)
  return { store, shelf: sessionShelf(store, 'http://host', 'token') }
}

function compared(store: Store) {
  const against = againstOf(store.history)
  against.turnTo(store.view().run?.id ?? 0)
  while (against.isBusy) against.advance(1_000)
  return against
}

describe('stored sessions', () => {
  it('D26 open as recordings, and leave no session behind when something else is opened', async () => {
    const { store, shelf } = open()
    await shelf.open('monday')
    expect([store.state.session, store.state.source, store.history.model.runs.size]).toEqual(['monday', 'recording', 2])
    store.reset('recording')
    expect(store.state.session).toBeUndefined()
  })

  it('D26 are compared: the first is shown, the other is read beside it, and the difference is found', async () => {
    const { store, shelf } = open()
    await shelf.compare('monday', 'tuesday')
    expect([store.state.session, store.state.tab]).toEqual(['monday', 'compare'])
    const { all, session } = compared(store)
    expect([session, all?.first, all?.turns[1]?.difference]).toEqual([
      'tuesday',
      1,
      { what: 'outcome', call: 'Read', a: 'a result', b: 'an error' },
    ])
    // another run of the same recording keeps the comparison
    store.set({ run: 1 })
    expect(compared(store).result?.differences).toBe(0)
    store.set({ run: 2 })
    expect(compared(store).result).toBeDefined()
  })

  it('are linked with their comparison, and a link waits for its session', async () => {
    const { store, shelf } = open()
    await shelf.compare('monday', 'tuesday')
    const href = linkTo(store, 'http://host/#token=x')
    const given = new URLSearchParams(new URL(href).hash.slice(1))
    expect([given.get('token'), given.get('session'), given.get('with'), given.get('tab')]).toEqual([
      'x',
      'monday',
      'tuesday',
      'compare',
    ])
    const linked = open(new URL(href).hash.replace('run=', 'call=a1&run='))
    // a live run comes first and must not use up the link
    linked.store.take(
      (await recordingOf(false))
        .trim()
        .split('\n')
        .map((each) => JSON.parse(each) as Frame),
    )
    expect(linked.store.state.selected).toBeUndefined()
    await linked.shelf.compare('monday', 'tuesday')
    expect([linked.store.state.session, linked.store.state.selected]).toEqual(['monday', 'a1'])
  })

  it('that cannot be read are an error on the page, and what is shown stays', async () => {
    const { store, shelf } = open()
    await shelf.open('monday')
    await shelf.open('nobody')
    expect([store.state.problem, store.state.session]).toEqual(['No such session.', 'monday'])
    await shelf.compare('monday', 'nobody')
    expect(store.state.problem).toBe('No such session.')
    await shelf.compare('monday', 'odd')
    expect(compared(store).problem).toMatch(/recording/)
  })
})
