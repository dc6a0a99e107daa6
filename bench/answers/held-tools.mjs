import { createTools, textOf } from '../workload.mjs'
import { untilIdle } from './until-idle.mjs'

/** Tools whose bodies wait until they are released. */
export function heldTools() {
  const bodies = new Map()
  let isOpen = false
  let onStart = () => {}
  const tools = createTools(async (input) => {
    if (!isOpen) {
      await new Promise((resolve) => {
        bodies.set(input.n, resolve)
        onStart()
      })
    }
    return { data: textOf(input) }
  })
  const release = (n) => {
    bodies.get(n)()
    bodies.delete(n)
  }
  return {
    tools,
    bodies,
    release,
    /** Waits until at least this many run, and until nothing else starts by itself. */
    async running(count) {
      while (bodies.size < count) {
        await new Promise((resolve) => {
          onStart = resolve
        })
      }
      await untilIdle()
    },
    /** Bodies that start later do not wait. */
    releaseAll() {
      isOpen = true
      for (const n of bodies.keys()) release(n)
    },
  }
}
