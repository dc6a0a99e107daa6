import { appendFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { defineTool } from 'signalbox'
import { z } from 'zod'

/** A body with an effect: it says in a file and to its host that it began, waits, and says that it is done. */
export const pay = defineTool({
  name: 'Pay',
  inputSchema: z.object({ key: z.string(), file: z.string(), ms: z.number() }),
  async call({ key, file, ms }, { toolUseID, abortController: { signal } }, _canUseTool, _message, onProgress) {
    appendFileSync(file, `began ${key} ${process.pid}\n`)
    onProgress?.({ toolUseID, data: 'began' })
    await wait(ms, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) throw new Error('stopped')
    appendFileSync(file, `did ${key}\n`)
    return { data: `did ${key}` }
  },
})
