// Preloaded into child processes of tests: records every request of a query, and every body sent to a service.
import { appendFileSync } from 'node:fs'
import { register } from 'node:module'
import process from 'node:process'

const file = process.env.SIGNALBOX_TEST_REQUESTS
if (file !== undefined) {
  const record = (entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`)
  // called by the line that `scripts/tells-requests.mjs` adds
  globalThis.signalboxTestRequest = ({ messages, tools }) => record({ messages, tools })
  // the hook doubles the time that a process takes to start
  if (process.env.SIGNALBOX_TEST_PACKAGE === '1')
    register('./watch-model-stream.mjs', import.meta.url, { data: { file } })
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    const path = new URL(String(input?.url ?? input)).pathname
    if (typeof init?.body === 'string' && /\/(messages|chat\/completions|responses)$/.test(path)) {
      record({ path, body: JSON.parse(init.body) })
    }
    return fetch(input, init)
  }
}
