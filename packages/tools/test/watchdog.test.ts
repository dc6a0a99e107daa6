import { expect, it, onTestFinished, vi } from 'vitest'
import { groupRunner } from '../../../src/process/group-runner.ts'

it('releasing a process twice leaves no timer that would end the next watchdog', async () => {
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
