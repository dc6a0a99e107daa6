import type { RemoteCall } from 'signalbox/remote'
import { expect, it } from 'vitest'
import type { Engine } from '../src/bull-runner.ts'
import { OpenCall } from '../src/open-call.ts'

it('R4 a hint that comes before the sending of a call is confirmed leads to a look', async () => {
  const finished = { outcome: { status: 'returned', result: { data: 'done' } } }
  const engine = {
    // neither a regular look nor a limit helps
    ...{ lookMs: 600_000, pickupMs: 600_000, hasEvents: true, prefix: 'p' },
    queue: { toKey: (id: string) => id },
    redis: {
      hmget: async () => ['Far', '1', null, '1', JSON.stringify(finished), null, null, null],
      exists: async () => 0,
    },
    envelope: { isSealing: false, unpack: async (value: unknown) => value },
    // Redis tells that the job was there already, and the confirmation comes later
    add: async () => open.look(),
  } as unknown as Engine
  const call = {
    ...{ key: 'k', again: false, attach: false, signal: new AbortController().signal },
    ...{ onPlace: () => undefined, onProgress: () => undefined },
  } as unknown as RemoteCall
  const open = new OpenCall(engine, call, 'k')
  expect(await open.result()).toEqual({ data: 'done' })
}, 10_000)
