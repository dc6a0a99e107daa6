import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { memoryJournals } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { expect, it } from 'vitest'
import { approvalsApp } from '../../examples/approvals-app.ts'
import type { Model } from '../../src/index.ts'

const model: Model = (request) =>
  scriptedModel([
    JSON.stringify(request.messages).includes('tool_result')
      ? 'The invoice is paid.'
      : [{ call: 'Pay', input: { invoice: 'A-1' } }],
  ])(request)

async function browse(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const ask = async (path: string, body?: unknown): Promise<unknown> => {
    const init =
      body === undefined ? {} : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }
    return (await fetch(`http://127.0.0.1:${port}${path}`, init)).json()
  }
  const until = (path: string, isThere: (answer: unknown) => boolean) =>
    expect.poll(async () => isThere(await ask(path))).toBe(true)
  const stop = () => new Promise((resolve) => server.close(resolve).closeAllConnections())
  return { ask, until, stop }
}

it('D15 S9 the app of the docs: start, stop, start again, approve, go on', async () => {
  expect(readFileSync('docs/durability.md', 'utf8')).toContain(
    `\`\`\`ts\n${readFileSync('examples/approvals-app.ts', 'utf8')}\`\`\``,
  )
  const journals = memoryJournals()
  const first = await browse(await approvalsApp(journals, model))
  await first.ask('/messages', 'Pay invoice A-1.')
  await first.until('/questions', (questions) => (questions as unknown[]).length === 1)
  await first.stop()

  const second = await browse(await approvalsApp(journals, model))
  const [question] = (await second.ask('/questions')) as { id: string }[]
  expect(question).toMatchObject({ toolName: 'Pay', input: { invoice: 'A-1' } })
  const approval = { id: question?.id, answer: { behavior: 'allow' }, by: 'Ann' }
  expect(await second.ask('/answers', approval)).toEqual({ outcome: 'accepted' })
  expect(await second.ask('/answers', approval)).toEqual({ outcome: 'stale' })
  await second.until('/messages', (messages) => JSON.stringify(messages).includes('The invoice is paid.'))
  expect(JSON.stringify(await second.ask('/messages'))).toContain('paid A-1')
  await second.stop()
})
