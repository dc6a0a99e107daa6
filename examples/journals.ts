import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileJournals } from 'signalbox/node'

const folder = await mkdtemp(join(tmpdir(), 'journals-'))

// a worker runs a session until it has to ask, then stops
const worker = fileJournals({ folder })
const journal = await worker.open('invoice-7', { owner: 'worker-1', mode: 'create' })
journal.append({ t: 'message.sent', content: 'Pay the open invoices.' })
journal.append({ t: 'permission.asked', question: 'q1', reply: 'r1', call: 'c1' })
journal.append({ t: 'run.suspended' })
await journal.flush() // durable from here on
await journal.close()

// a web server, in another process, shows the question and takes the answer
const web = fileJournals({ folder })
for await (const { id, status, questions } of web.list({ status: ['suspended'] }))
  console.log(id, status, questions.join())
const answer = { type: 'answer', question: 'q1', answer: { behavior: 'allow' }, by: 'ann' } as const
console.log(await web.post('invoice-7', answer))
console.log(await web.post('invoice-7', { ...answer, by: 'bob' }))

// another worker goes on
const next = await worker.open('invoice-7', { owner: 'worker-2', mode: 'resume' })
console.log(next.records.map(({ t }) => t).join(' '))
const note = await new Promise<unknown>((resolve) => next.onNote(resolve))
console.log(JSON.stringify(note))
await next.close()
await rm(folder, { recursive: true })
