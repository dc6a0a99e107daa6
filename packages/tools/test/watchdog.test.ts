import { expect, it, onTestFinished, vi } from 'vitest'
import { groupRunner } from '../../../src/process/group-runner.ts'

it('a process that is let go of twice leaves no timer that would end the next one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const request = (script: string) => ({ file: 'sh', args: ['-c', script], cwd: '/', env: { PATH: '/usr/bin:/bin' } })
  const first = groupRunner.start(request('exit 0'), { onOutput: () => undefined })
  await first.exited
  first.release()
  first.release()
  expect(vi.getTimerCount()).toBe(1)
  const second = groupRunner.start(request('exec sleep 100'), { onOutput: () => undefined })
  expect(vi.getTimerCount()).toBe(0)
  second.signalGroup('SIGKILL')
  await second.exited
  second.release()
})
