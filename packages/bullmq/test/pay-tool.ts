import { appendFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { defineTool } from 'signalbox'
import { z } from 'zod'

/** A body with an effect: it says in a file that it began, waits, and says that it is done. */
export const pay = defineTool({
  name: 'Pay',
  inputSchema: z.object({ key: z.string(), file: z.string(), ms: z.number() }),
  async call({ key, file, ms }, { abortController: { signal } }) {
    appendFileSync(file, `began ${key} ${process.pid}\n`)
    await wait(ms, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) throw new Error('stopped')
    appendFileSync(file, `did ${key}\n`)
    return { data: `did ${key}` }
  },
})
