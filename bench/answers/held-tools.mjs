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
    /** Until at least so many run, and whatever else would start by itself has. */
    async running(count) {
      while (bodies.size < count) {
        await new Promise((resolve) => {
          onStart = resolve
        })
      }
      await untilIdle()
    },
    /** Those that have not begun yet do not wait at all. */
    releaseAll() {
      isOpen = true
      for (const n of bodies.keys()) release(n)
    },
  }
}
