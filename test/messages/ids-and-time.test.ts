import { afterEach, describe, expect, it, vi } from 'vitest'

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

/** Loads the module again, as a new process does. */
const freshStamps = async () => (await import('../../src/messages/ids-and-time.ts')).defaultIdsAndTime

describe('the ids of messages', () => {
  it('are UUIDs, and no two are the same', async () => {
    const { uuid } = await freshStamps()
    const ids = Array.from({ length: 100_000 }, () => uuid())
    expect(ids.filter((id) => !form.test(id))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBe(ids.length)
  })

  it('of two processes have different tails', async () => {
    const one = (await freshStamps()).uuid()
    vi.resetModules()
    const other = (await freshStamps()).uuid()
    expect(one.slice(8)).not.toBe(other.slice(8))
  })

  it.each([undefined, {}])('are UUIDs in an insecure page too: crypto is %j', async (crypto) => {
    vi.stubGlobal('crypto', crypto)
    const { uuid } = await freshStamps()
    const ids = [uuid(), uuid()]
    expect(ids.filter((id) => !form.test(id))).toEqual([])
    expect(new Set(ids).size).toBe(2)
  })
})
