import { type Job, Worker, type WorkerOptions } from 'bullmq'

interface Run {
  readonly id: string
  readonly token: string
}

interface JobWorkerOptions extends WorkerOptions {
  readonly lockDuration: number
}

/**
 * A worker that does not start by itself. It renews the lock of each run. BullMQ would renew one lock per job: a process
 * that was stopped may take its own job again, and the end of the first run would leave the second one without its lock.
 */
export function jobWorker(
  queue: string,
  work: (job: Job) => Promise<unknown>,
  options: JobWorkerOptions,
  onError: (error: Error) => void,
): Worker {
  const { lockDuration } = options
  const runs = new Set<Run>()
  const renew = async (): Promise<void> => {
    const all = [...runs]
    const [ids, tokens] = [all.map(({ id }) => id), all.map(({ token }) => token)]
    for (const id of await worker.extendJobLocks(ids, tokens, lockDuration))
      onError(new Error(`could not renew the lock of job ${id}`))
  }
  let timer: ReturnType<typeof setInterval> | undefined
  const run = async (job: Job, token = ''): Promise<unknown> => {
    const started: Run = { id: String(job.id), token }
    runs.add(started)
    timer ??= setInterval(() => void renew().catch(onError), lockDuration / 3).unref()
    try {
      return await work(job)
    } finally {
      runs.delete(started)
      if (runs.size === 0) {
        clearInterval(timer)
        timer = undefined
      }
    }
  }
  const worker = new Worker(queue, run, { ...options, autorun: false, skipLockRenewal: true })
  worker.on('error', onError)
  return worker
}
