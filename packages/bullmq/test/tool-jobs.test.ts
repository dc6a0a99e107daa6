import type { Job } from 'bullmq'
import type { BodyRunner } from 'signalbox/node'
import type { RemoteCall } from 'signalbox/remote'
import { expect, it } from 'vitest'
import { Envelope } from '../src/seal.ts'
import { ToolJobs } from '../src/tool-jobs.ts'

it('R5 R7 a worker that runs its own call once more can stop it after the first body has ended', async () => {
  const calls: RemoteCall[] = []
  const ends: (() => void)[] = []
  const bodies = {
    run: async (call: RemoteCall) => {
      calls.push(call)
      await new Promise<void>((resolve) => ends.push(resolve))
      return { status: 'returned', result: { data: 'done' } }
    },
  } as unknown as BodyRunner
  const redis = { exists: async () => 0 } as never
  const at = { bodies, redis, prefix: 'p', worker: 'w', resultStore: undefined, envelope: new Envelope(undefined) }
  const jobs = new ToolJobs(at)
  const data = { tool: { name: 'Far' }, toolUseID: 'c', again: true }
  const run = (attemptsStarted: number) => jobs.answer('default', { id: 'call-1', attemptsStarted, data } as Job)
  const first = run(1)
  await expect.poll(() => calls).toHaveLength(1)
  const second = run(2)
  await expect.poll(() => calls).toHaveLength(2)
  ends[0]?.()
  await first
  expect(jobs.running).toBe(1)
  jobs.stop('call-1', 'enough')
  expect(calls.map(({ signal }) => signal.reason)).toEqual([undefined, 'enough'])
  ends[1]?.()
  await second
})
