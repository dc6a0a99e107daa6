/** Counts the listeners added to a signal from now on. Returns a function that gives the current count. */
export function countListeners(signal: AbortSignal): () => number {
  let listeners = 0
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    },
    removeEventListener: (...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    },
  })
  return () => listeners
}
