import { z } from 'zod'

/** Stored sessions: two releases that part in their second turn, one that waits for an answer, one that was suspended. */
export async function stagedSessions({ defineTool, openSession, scriptedModel, journals }) {
  const inputSchema = z.looseObject({})
  const describe = ({ of }) => of
  const read = defineTool({
    name: 'Read',
    inputSchema,
    describe,
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    call: async ({ of }) => ({ data: `the text of ${of}` }),
  })
  const bash = (isBroken) =>
    defineTool({
      name: 'Bash',
      inputSchema,
      describe,
      async call({ of }) {
        if (isBroken && of === 'npm test') throw new Error('exit code 1: 2 tests failed')
        return { data: 'ok' }
      },
    })
  const replies = [
    [
      { text: 'I look at the change log and the version.' },
      { call: 'Read', input: { of: 'CHANGELOG.md' } },
      { call: 'Read', input: { of: 'package.json' } },
    ],
    [{ text: 'I run the tests.' }, { call: 'Bash', input: { of: 'npm test' } }],
    [{ text: 'I publish.' }, { call: 'Bash', input: { of: 'npm publish' } }],
    'Released.',
  ]
  const play = async (id, isBroken, more = {}) => {
    const session = await openSession({
      id,
      journals,
      tools: [read, bash(isBroken)],
      model: scriptedModel(replies),
      context: { permissions: { allow: ['Read', 'Bash'] } },
      owner: 'build-1',
      ...more,
    })
    for await (const _ of session.send('Release the next version.'));
    await session.close()
  }
  await play('release-monday', false)
  await play('release-tuesday', true)
  await play('release-wednesday', false, {
    context: { permissions: { allow: ['Read'] } },
    canUseTool: () => ({ behavior: 'later' }),
  })
}
