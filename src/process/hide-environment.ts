import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { shellEnvironment } from './shell-environment.ts'

let isDone = false

/**
 * Removes the variables that a shell does not get from `/proc/<pid>/environ` of this process, where every program of the
 * same user can read them, keys included. That file shows the memory that the kernel filled at the start. `process.env`
 * stays as it is: each value is set again first, which copies it to other memory. Only on Linux, and only once.
 */
export function hideEnvironment(): void {
  // in a worker thread process.env is a copy, and the main thread still needs the original memory
  if (isDone || process.platform !== 'linux' || !isMainThread) return
  isDone = true
  const kept = new Set(Object.keys(shellEnvironment(process.env)))
  const values = new Map(Object.entries(process.env))
  let memory: number | undefined
  try {
    const { start, end } = environmentBlock()
    memory = openSync('/proc/self/mem', 'r+')
    const block = Buffer.alloc(end - start)
    if (readSync(memory, block, 0, block.length, start) !== block.length) return
    const hidden = hiddenParts(block, kept)
    for (const { name } of hidden) move(name, values.get(name))
    for (const { from, to } of hidden) writeSync(memory, Buffer.alloc(to - from), 0, to - from, start + from)
  } catch {
    // some kernels do not allow this; the documentation says what group isolation does not promise
  } finally {
    if (memory !== undefined) closeSync(memory)
    for (const [name, value] of values) if (process.env[name] !== value) process.env[name] = value
  }
}

/** Sets the value twice, because some C libraries do nothing if the value stays the same. */
function move(name: string, value: string | undefined): void {
  if (value === undefined) return
  process.env[name] = `${value} `
  process.env[name] = value
}

/** Fields 50 and 51 of `stat`: the start and the end of the environment. */
function environmentBlock(): { start: number; end: number } {
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .trim()
    .split(' ')
  const [start, end] = [Number(fields[47]), Number(fields[48])]
  if (!(start > 0 && end > start && end - start < 10_000_000)) throw new Error('no environment')
  return { start, end }
}

/** The positions of the values that are not kept. */
function hiddenParts(block: Buffer, kept: ReadonlySet<string>): { name: string; from: number; to: number }[] {
  const parts: { name: string; from: number; to: number }[] = []
  for (let from = 0; from < block.length; ) {
    const zero = block.indexOf(0, from)
    const to = zero < 0 ? block.length : zero
    const name = block.subarray(from, to).toString('utf8').split('=', 1)[0] ?? ''
    if (name !== '' && !kept.has(name)) parts.push({ name, from: from + Buffer.byteLength(name) + 1, to })
    from = to + 1
  }
  return parts.filter(({ from, to }) => from < to)
}
