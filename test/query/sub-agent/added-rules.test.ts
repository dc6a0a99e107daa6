import { describe, expect, it } from 'vitest'
import {
  type AnyTool,
  type CanUseTool,
  createAssistantMessage,
  type PermissionAnswer,
  type PermissionSettings,
  type Query,
  query,
  StreamingToolExecutor,
} from '../../../src/index.ts'
import { scriptedModel } from '../../../src/query/scripted/index.ts'
import { subAgent } from '../../../src/query/sub-agent/index.ts'
import { collectWarnings, done, expectNoStrays, heldQuestions, raise, roughTool } from '../../cases/support.ts'
import { heldModel } from '../../support/held-model.ts'
import { flush, takeAll, toolUse } from '../../support/turn.ts'

expectNoStrays()

const write = roughTool('Write', done, { matchesRule: (spec: string) => spec === 'all' })

/** An agent whose model calls one tool, once per call of the agent. */
const agentOf = (name: string, tools: readonly AnyTool[], calls: string): AnyTool =>
  subAgent({
    name,
    tools,
    model: (request) =>
      scriptedModel([[{ call: calls, input: calls === 'Write' ? {} : { prompt: 'go' } }], 'Done.'])(request),
    maxTurns: 1,
  }) as AnyTool

/** Answers questions by the name of the tool, and yes to everything else; records the questions. */
function host(answers: Record<string, PermissionAnswer>) {
  const asked: string[] = []
  const canUseTool: CanUseTool = ({ name }) => {
    asked.push(name)
    return answers[name] ?? { behavior: 'allow' }
  }
  return { asked, canUseTool }
}

const allowed: PermissionAnswer = { behavior: 'allow', addRules: { allow: ['Write'] } }
const denied: PermissionAnswer = { behavior: 'deny', message: 'never', addRules: { deny: ['Write'] } }

/** Runs calls in one turn and returns their results, and the permissions after the last. */
async function turn(
  tools: readonly AnyTool[],
  canUseTool: CanUseTool,
  names: string[],
  permissions?: PermissionSettings,
) {
  const executor = new StreamingToolExecutor(tools, canUseTool, { permissions })
  const warnings = collectWarnings(executor)
  const message = createAssistantMessage([])
  for (const [index, name] of names.entries()) {
    executor.addTool(toolUse(`call_${index}`, name, name === 'Write' ? {} : { prompt: 'go' }), message)
  }
  let after: PermissionSettings | undefined
  const errors: boolean[] = []
  for await (const { message: each, newContext } of executor.getRemainingResults()) {
    if (each.type === 'user') errors.push((each.message.content[0] as { is_error?: boolean }).is_error === true)
    after = newContext.permissions
  }
  return { errors, after, warnings }
}

describe('rules that come with an answer to a call of an agent', () => {
  const agent = agentOf('Agent', [write], 'Write')

  it('P6 an allow rule: no further question, neither in this run nor in its next agent', async () => {
    const { asked, canUseTool } = host({ Write: allowed })
    const { errors, after } = await turn([agent, write], canUseTool, ['Agent', 'Write', 'Agent'])
    expect(asked).toEqual(['Agent', 'Write', 'Agent'])
    expect(errors).toEqual([false, false, false])
    expect(after).toEqual({ deny: [], ask: [], allow: ['Write'] })
  })

  it('P6 a deny rule: the calls of this run are denied from then on, without a question', async () => {
    const { asked, canUseTool } = host({ Write: denied })
    const { errors, after } = await turn([agent, write], canUseTool, ['Agent', 'Write'])
    expect([asked, errors]).toEqual([
      ['Agent', 'Write'],
      [false, true],
    ])
    expect(after?.deny).toEqual(['Write'])
  })

  it('P6 they apply in the next turns of a query', async () => {
    const { asked, canUseTool } = host({ Write: allowed })
    const model = scriptedModel([[{ call: 'Agent', input: { prompt: 'go' } }], [{ call: 'Write' }], 'Done.'])
    for await (const _ of query({ messages: 'go', tools: [agent, write], model, canUseTool }));
    expect(asked).toEqual(['Agent', 'Write'])
  })

  it('P6 they also come from an agent inside an agent', async () => {
    const { asked, canUseTool } = host({ Write: allowed })
    const outer = agentOf('Outer', [agent], 'Agent')
    const { after } = await turn([outer, write], canUseTool, ['Outer', 'Write'])
    expect([asked, after?.allow]).toEqual([['Outer', 'Agent', 'Write'], ['Write']])
  })

  it('P6 they outlive an agent that fails', async () => {
    const { asked, canUseTool } = host({ Write: denied })
    let turns = 0
    const failing = subAgent({
      tools: [write],
      model: (request) => {
        if (turns++ > 0) throw new Error('no credit')
        return scriptedModel([[{ call: 'Write' }]])(request)
      },
      retry: { attempts: 0 },
    }) as AnyTool
    const { errors, after } = await turn([failing, write], canUseTool, ['Agent', 'Write'])
    expect([asked, errors, after?.deny]).toEqual([['Agent', 'Write'], [true, true], ['Write']])
  })

  it('P6 no other permissions of an agent apply outside it', async () => {
    const { canUseTool } = host({ Write: allowed })
    const narrow: AnyTool = {
      ...agent,
      call: (input, context, ...rest) =>
        agent.call(
          input,
          { ...context, permissions: { mode: 'acceptEdits', deny: ['Mail'], ask: ['Write'] } },
          ...rest,
        ),
    }
    const { after } = await turn([narrow, write], canUseTool, ['Agent'], { allow: ['Agent'] })
    expect(after).toEqual({ deny: [], ask: [], allow: ['Agent', 'Write'] })
  })

  it('P6 rules of an answer from elsewhere apply to all surrounding agents too', async () => {
    const inner: Query[] = []
    const { canUseTool, question } = heldQuestions()
    const leaf = subAgent({
      tools: [write],
      model: scriptedModel([[{ call: 'Write', id: 'w' }], 'Done.']),
      onQuery: (run) => void inner.push(run),
    }) as AnyTool
    const executor = new StreamingToolExecutor([agentOf('Outer', [leaf], 'Agent'), write], canUseTool, {})
    executor.addTool(toolUse('a', 'Outer', { prompt: 'go' }), createAssistantMessage([]))
    question('a').answer({ behavior: 'allow' })
    await flush()
    question('toolu_1').answer({ behavior: 'allow' })
    await flush()
    expect(inner[0]?.executor.answer('w', { ...denied, addRules: { deny: ['Write'], ask: ['Mail'] } })).toBe(true)
    expect(inner[0]?.executor.answer('w', { behavior: 'allow', addRules: { allow: ['Read'] } })).toBe(false)
    await flush()
    const [last] = takeAll(executor).slice(-1)
    expect([last?.message.type, last?.newContext.permissions]).toEqual([
      'user',
      { deny: ['Write'], ask: ['Mail'], allow: [] },
    ])
  })

  it.each([
    ['cannot be read', { allow: ['Write('] }, 0],
    ['the tools of the agent cannot match', { allow: ['Deaf(all)'] }, 0],
    ['the tools outside cannot match', { deny: ['Blunt(all)'] }, 2],
  ])('P6 rules that %s are ignored, and the answer still counts', async (_, addRules, warned) => {
    const { canUseTool } = host({ Write: { behavior: 'allow', addRules } })
    const inside = agentOf('Agent', [write, roughTool('Deaf', done)], 'Write')
    const { errors, after, warnings } = await turn([inside, roughTool('Blunt', done)], canUseTool, ['Agent', 'Agent'])
    expect([errors, after]).toEqual([[false, false], undefined])
    // the agent itself warns about its own invalid rules
    expect(warnings.of('invalid_rule')).toHaveLength(warned)
    expect(warnings.all).toHaveLength(warned)
  })

  it.each([
    ['no answer', undefined],
    [
      'one that throws when it is read',
      {
        get behavior(): 'allow' {
          throw new Error('no')
        },
      },
    ],
  ])('P6 %s adds no rules, and ends nothing', async (_, answer) => {
    const { canUseTool } = host({})
    const ask: CanUseTool = (...asked) =>
      asked[0].name === 'Write' ? (answer as PermissionAnswer) : canUseTool(...asked)
    expect(await turn([agent], ask, ['Agent'])).toMatchObject({ errors: [false], after: undefined })
  })

  it.each(['of the run', 'of a sibling inside'])('P6 an answer after the abort %s adds no rules', async (whose) => {
    const { canUseTool, question } = heldQuestions()
    const isConcurrencySafe = () => true
    const slow = roughTool('Slow', done, { isConcurrencySafe })
    const fails = roughTool('Fails', () => raise(new Error('no')), { isConcurrencySafe, cancelsSiblingsOnError: true })
    const inner = heldModel()
    const agent = subAgent({ tools: [slow, fails], model: inner.model }) as AnyTool
    const executor = new StreamingToolExecutor([agent], canUseTool, {})
    executor.addTool(toolUse('a', 'Agent', { prompt: 'go' }), createAssistantMessage([]))
    question('a').answer({ behavior: 'allow' })
    await flush()
    inner.start()
    inner.call('slow', 'Slow')
    inner.call('fails', 'Fails')
    inner.end('tool_use')
    await flush()
    if (whose === 'of the run') executor.abort('escape')
    else question('fails').answer({ behavior: 'allow' })
    await flush()
    question('slow').answer({ behavior: 'deny', message: 'never', addRules: { deny: ['Slow'] } })
    await flush()
    inner.start()
    inner.text('Done.')
    inner.end()
    await flush()
    const [last] = takeAll(executor).slice(-1)
    expect([last?.message.type, last?.newContext.permissions]).toEqual(['user', undefined])
  })
})
