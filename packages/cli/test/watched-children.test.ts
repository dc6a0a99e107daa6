import { expect, it } from 'vitest'
import { builtProject } from '../../../scripts/built-project.mjs'
import { flawsOfChildren, seen } from '../../../test/support/children/watched-children.ts'
import { makeScript, run, temporaryFolder } from './support.ts'

const folder = temporaryFolder()

/** A program on the built library that asks its model once. */
const program = (): string =>
  makeScript(
    folder,
    'program.mjs',
    `import { query } from ${JSON.stringify(`${builtProject()}/dist/src/index.js`)}
import { scriptedModel } from ${JSON.stringify(`${builtProject()}/dist/src/query/scripted/index.js`)}
for await (const _ of query({ messages: 'Go.', tools: [], model: scriptedModel([['Done.']]) }));
console.log('over')`,
  )

it('what a query of a child process asks its model is held to the rules of the services', async () => {
  const before = seen.requests
  const valid = await run(program(), [])
  expect(valid).toMatchObject({ code: 0, out: 'over\n' })
  expect(flawsOfChildren()).toEqual([])
  expect(seen.requests).toBe(before + 1)
  // a query repairs what it is given, so the recorder is told of a request that no query would make
  const orphan = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'of nothing' }
  const request = { messages: [{ role: 'user', content: [orphan] }], tools: [] }
  await run(makeScript(folder, 'tells.mjs', `globalThis.signalboxTestRequest(${JSON.stringify(request)})`), [])
  expect(flawsOfChildren().join('\n')).toContain('toolu_1')
  expect(seen.requests).toBe(before + 2)
})

it('what a client of a child process sends to a service is held to its rules', async () => {
  const fetches = makeScript(
    folder,
    'fetches.mjs',
    `const body = JSON.stringify({ model: 'm', messages: [{ role: 'assistant', content: '' }] })
await fetch('http://127.0.0.1:1/v1/chat/completions', { method: 'POST', body }).catch(() => undefined)`,
  )
  await run(fetches, [])
  expect(flawsOfChildren()).not.toEqual([])
})
