import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { queryChart } from '../../machines/index.ts'

/** States that share the function of another state; every other function is in the file of its state's name. */
const sharedBodies: Readonly<Record<string, string>> = {
  salvaging: 'draining',
  abortingStream: 'draining',
  failing: 'draining',
}

describe('the files of the query', () => {
  const states = Object.values(queryChart().states)
  const withBody = states.filter(({ entry, type }) => entry.length > 0 && type !== 'final').map(({ key }) => key)

  it('L4 a state that does something has a file of its name, or shares the body of one that has', () => {
    expect(withBody.filter((state) => !existsSync(`src/query/${sharedBodies[state] ?? state}.ts`))).toEqual([])
  })

  it('L4 states that share a body enter with the same action', () => {
    const entryOf = (key: string) => JSON.stringify(queryChart().states[key as 'draining']?.entry)
    for (const [state, body] of Object.entries(sharedBodies))
      expect([state, entryOf(state)]).toEqual([state, entryOf(body)])
  })
})
