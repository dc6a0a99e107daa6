/** Counts everything that a page can leave behind. Runs before any other script. */
export function counting(): void {
  const [timers, pictures] = [new Set<number>(), new Set<number>()]
  const left = { sockets: 0, observers: 0 }
  const { setTimeout: set, clearTimeout: clear, setInterval: setEach, clearInterval: clearEach } = window
  const { requestAnimationFrame: ask, cancelAnimationFrame: cancel } = window
  Object.assign(globalThis, {
    setTimeout: (run: () => void, ms?: number) => {
      const id: number = set(() => {
        timers.delete(id)
        run()
      }, ms)
      timers.add(id)
      return id
    },
    clearTimeout: (id: number) => {
      timers.delete(id)
      clear(id)
    },
    setInterval: (run: () => void, ms?: number) => {
      const id = setEach(run, ms)
      timers.add(id)
      return id
    },
    clearInterval: (id: number) => {
      timers.delete(id)
      clearEach(id)
    },
    requestAnimationFrame: (run: FrameRequestCallback) => {
      const id: number = ask((now) => {
        pictures.delete(id)
        run(now)
      })
      pictures.add(id)
      return id
    },
    cancelAnimationFrame: (id: number) => {
      pictures.delete(id)
      cancel(id)
    },
    WebSocket: class extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols)
        left.sockets++
        this.addEventListener('close', () => left.sockets--)
      }
    },
    ResizeObserver: class extends ResizeObserver {
      constructor(run: ResizeObserverCallback) {
        super(run)
        left.observers++
      }
      override disconnect(): void {
        super.disconnect()
        left.observers--
      }
    },
    left: () => ({ ...left, timers: timers.size, pictures: pictures.size }),
  })
}
