import { z } from 'zod'

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const usage = (input, output, cached) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cached,
})
const inputSchema = z.looseObject({})

/** What the replies of the staged agent cost. */
export const stagedPrices = { scripted: { input: 3, output: 15, cacheRead: 0.3 } }

/** An agent that fixes a bug, stopped at a question: three turns, a sub-agent, a retry, a hook and a failed call. */
export async function stagedConversation({ defineTool, query, scriptedModel }, server) {
  const tool = (name, isSafe, call, more = {}) =>
    defineTool({ name, inputSchema, isConcurrencySafe: () => isSafe, isReadOnly: () => isSafe, call, ...more })
  let tests = 0
  const read = tool('Read', true, async ({ file_path: path }) => {
    await pause(40)
    return { data: `1\texport const cents = (text) => Number(text.replace('$', '')) * 100\n2\t// ${path}` }
  })
  const grep = tool('Grep', true, async ({ pattern }) => {
    await pause(90)
    if (pattern.endsWith('(')) throw new Error('regex parse error: unclosed group')
    return { data: 'src/cart.js:12: total += cents(item.price)\nsrc/shop.js:4: import { cents } from "./price.js"' }
  })
  const edit = tool('Edit', false, async () => {
    await pause(60)
    return { data: 'The file was changed.' }
  })
  const bash = tool(
    'Bash',
    false,
    async () => {
      await pause(160)
      if (++tests === 1) throw new Error('connect ECONNRESET 127.0.0.1:5432')
      return { data: 'checking the shop\n  ok    a price in dollars\n  ok    no dollars at all\nall is well' }
    },
    { retry: { attempts: 2, backoffMs: 80 }, matchesRule: (spec, { command }) => command.startsWith(spec) },
  )
  const write = tool('Write', false, async () => ({ data: 'ok' }))
  const agent = tool(
    'Agent',
    true,
    async (_input, { toolUseID }) => {
      const inner = query({
        messages: 'Find who calls price().',
        tools: [grep, read],
        model: scriptedModel([
          [
            { text: 'I search for the callers.' },
            { call: 'Grep', input: { pattern: 'cents' } },
            { call: 'Read', input: { file_path: 'src/cart.js' } },
            { stop: 'tool_use', usage: usage(900, 120, 4_000) },
          ],
          ['Two files call it: src/cart.js and src/shop.js.', { stop: 'end_turn', usage: usage(400, 60, 6_000) }],
        ]),
        canUseTool: () => ({ behavior: 'allow' }),
      })
      const leave = server.add(inner, { title: 'Agent: find the callers, turn', parentToolUseID: toolUseID })
      for await (const _ of inner);
      leave()
      return { data: 'src/cart.js and src/shop.js call it.' }
    },
    { describe: ({ description }) => description },
  )
  const noColor = async () => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'NO_COLOR=1 npm test' } },
  })
  const run = query({
    messages: 'The price of 5 dollars and 5 cents is wrong. Fix it.',
    tools: [read, grep, edit, bash, write, agent],
    model: scriptedModel([
      [
        { thinking: 'The cents may be lost when the text is split. I should look at the parser first.' },
        { text: 'I look at the code from several sides.' },
        { call: 'Read', input: { file_path: 'src/price.js' } },
        { call: 'Grep', input: { pattern: 'price(' } },
        { call: 'Agent', input: { description: 'find who calls price' } },
        { stop: 'tool_use', usage: usage(2_100, 340, 6_000) },
      ],
      [
        { text: 'The conversion multiplies a float. I change it and run the tests.' },
        {
          call: 'Edit',
          input: {
            file_path: 'src/price.js',
            old_string: "Number(text.replace('$', '')) * 100",
            new_string: "Math.round(Number(text.replace('$', '')) * 100)",
          },
        },
        { call: 'Bash', input: { command: 'npm test' } },
        { stop: 'tool_use', usage: usage(3_200, 410, 12_000) },
      ],
      [
        { text: 'All checks pass. I push the branch.' },
        { call: 'Read', input: { file_path: 'README.md' } },
        { call: 'Bash', input: { command: 'git push origin fix/price   && gh pr create --fill' } },
        { call: 'Write', input: { file_path: 'CHANGELOG.md', content: '- Prices keep their cents.\n' } },
        { stop: 'tool_use', usage: usage(1_800, 150, 15_000) },
      ],
    ]),
    context: {
      permissions: {
        mode: 'acceptEdits',
        allow: ['Bash(npm test)', 'Bash(NO_COLOR=1 npm test)'],
        ask: ['Bash(git push)'],
      },
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', hooks: [async (hooked) => (hooked.tool_input.command === 'npm test' ? noColor() : {})] },
        ],
      },
    },
    canUseTool: ({ name }) => (name === 'Bash' ? new Promise(() => undefined) : { behavior: 'allow' }),
  })
  server.add(run)
  const ended = (async () => {
    for await (const _ of run);
  })()
  const isAsking = () => run.executor.openQuestions().length > 0
  for (let waited = 0; !isAsking() && waited < 500; waited++) await pause(20)
  await pause(150)
  return {
    run,
    stop: async () => {
      run.abort('over')
      await ended
    },
  }
}
