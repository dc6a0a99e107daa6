import { describe, expect, it } from 'vitest'
import {
  type AnyTool,
  type Decision,
  isSignalboxError,
  type PermissionSettings,
  parseRule,
  StreamingToolExecutor,
} from '../../src/index.ts'
import { done, expectNoStrays, onlyOutcome, roughTool, textOf } from '../cases/support.ts'
import { flush, testTurn } from '../support/turn.ts'

expectNoStrays()

/** The thrown error, which must be a SignalboxError. */
function refusalOf(act: () => unknown): { code: string; message: string } {
  try {
    act()
  } catch (error) {
    if (isSignalboxError(error)) return error
    throw error
  }
  throw new Error('nothing was refused')
}

const construct = (permissions: unknown, tools: AnyTool[] = [roughTool('Bash', done)]) =>
  new StreamingToolExecutor(tools, undefined, { permissions: permissions as PermissionSettings })

describe('valid rules', () => {
  it.each([
    ['Bash', { toolName: 'Bash' }],
    ['Bash(npm *)', { toolName: 'Bash', spec: 'npm *' }],
    ['Bash(echo (a) b)', { toolName: 'Bash', spec: 'echo (a) b' }],
    ['Edit(/src/**)', { toolName: 'Edit', spec: '/src/**' }],
    ['mcp__files', { toolName: 'mcp__files', server: 'files' }],
    ['mcp__files__*', { toolName: 'mcp__files__*', server: 'files' }],
    ['mcp__files__read', { toolName: 'mcp__files__read' }],
    ['mcp__files__read_all(x)', { toolName: 'mcp__files__read_all', spec: 'x' }],
    ['mcp__my_files-2', { toolName: 'mcp__my_files-2', server: 'my_files-2' }],
  ])('P5 %s', (text, parts) => {
    expect(parseRule(text)).toEqual({ text, ...parts })
  })
})

describe('invalid rules', () => {
  it.each([
    ['', 0],
    [' Bash', 0],
    ['Bash ', 4],
    ['Ba sh', 2],
    ['Bash,Edit', 4],
    ['Bash|Edit', 4],
    ['(npm *)', 0],
    ['Bash(npm *', 10],
    ['Bash(', 5],
    ['Bash()', 5],
    ['Bash(  )', 5],
    ['Bash)', 4],
    ['Bash(npm) ', 9],
    ['Bash(npm)x', 9],
    ['*', 0],
    ['Bash*', 4],
    ['B*(x)', 1],
    ['mcp__', 5],
    ['mcp__files__re*', 14],
    ['mcp__files__*__x', 12],
    ['mcp__a__b__*', 11],
    ['Bash\n', 4],
  ])('P5 %j: rejected, with the position %i', (text, position) => {
    const { code, message } = refusalOf(() => parseRule(text, 'permissions.deny[3]'))
    expect(code).toBe('invalid_rule')
    expect(message).toContain('permissions.deny[3]')
    expect(message).toContain(`position ${position}`)
  })

  it.each([
    ['mcp__*', 5],
    ['mcp__*__*', 5],
    ['mcp__*__read', 5],
    ['mcp__fil*', 8],
    ['mcp__fil*__*', 8],
  ])('P5 %s: a star in place of a server would match nothing, so it is rejected', (text, position) => {
    const { code, message } = refusalOf(() => parseRule(text))
    expect(code).toBe('invalid_rule')
    expect(message).toContain(`position ${position}`)
  })

  it.each([[undefined], [null], [5], [{}], [['Bash']], [Symbol('Bash')]])('P5 %o is not a rule', (text) => {
    expect(refusalOf(() => parseRule(text))).toMatchObject({ code: 'invalid_rule' })
  })

  it.each(['deny', 'ask', 'allow'])('P5 an invalid %s rule is rejected at construction, with its path', (list) => {
    const { code, message } = refusalOf(() => construct({ [list]: ['Bash', 'Bash(npm'] }))
    expect(code).toBe('invalid_rule')
    expect(message).toContain(`permissions.${list}[1]`)
    expect(message).toContain('"Bash(npm"')
  })

  it.each([['Bash'], [{ 0: 'Bash' }], [5]])('P5 %o in place of a list is rejected', (list) => {
    const { code, message } = refusalOf(() => construct({ deny: list }))
    expect(code).toBe('invalid_context')
    expect(message).toContain('permissions.deny')
  })

  it('P5 a list with a hole is rejected', () => {
    const list: string[] = ['Bash']
    list[2] = 'Edit'
    expect(refusalOf(() => construct({ deny: list })).message).toContain('permissions.deny[1]')
  })

  it.each([
    ['yolo'],
    [''],
    [null],
    [5],
    ['Plan'],
    ['__proto__'],
  ])('P5 the mode %o is rejected, with the known modes', (mode) => {
    const { code, message } = refusalOf(() => construct({ mode }))
    expect(code).toBe('invalid_context')
    expect(message).toMatch(/mode.*default.*plan.*acceptEdits.*bypassPermissions.*dontAsk/)
  })

  it.each([[null], [5], ['plan']])('P5 %o as permissions is rejected', (permissions) => {
    expect(refusalOf(() => construct(permissions))).toMatchObject({ code: 'invalid_context' })
  })
})

describe('specifiers for a tool without matchesRule', () => {
  it.each([
    'deny',
    'ask',
    'allow',
  ])('P5 T6 in a %s rule are rejected at construction, with the rule and the tool', (list) => {
    const { code, message } = refusalOf(() => construct({ [list]: ['Bash(npm *)'] }))
    expect(code).toBe('invalid_rule')
    expect(message).toContain('"Bash(npm *)"')
    expect(message).toContain('matchesRule')
  })

  it('P5 T6 also by an alias, and for any tool of a server', () => {
    const tools = [
      roughTool('Bash', done, { aliases: ['Shell'] }),
      roughTool('mcp__files__read', done, { matchesRule: () => true }),
      roughTool('mcp__files__write', done),
    ]
    expect(refusalOf(() => construct({ deny: ['Shell(x)'] }, tools)).message).toContain('Bash')
    expect(refusalOf(() => construct({ deny: ['mcp__files(x)'] }, tools)).message).toContain('mcp__files__write')
    expect(() => construct({ deny: ['mcp__files__read(x)', 'Absent(x)'] }, tools)).not.toThrow()
  })
})

describe('which calls a rule matches', () => {
  const tools = () => [
    roughTool('Bash', done, { aliases: ['Shell', 'sh'] }),
    roughTool('mcp__files__read', done, { aliases: ['cat'] }),
    roughTool('mcp__files2__read', done),
    roughTool('mcp__my__files__read', done),
  ]

  it.each([
    ['Bash', 'Bash', true],
    ['Bash', 'Shell', true],
    ['Shell', 'Bash', true],
    ['sh', 'Shell', true],
    ['Bas', 'Bash', false],
    ['mcp__files', 'mcp__files__read', true],
    ['mcp__files__*', 'mcp__files__read', true],
    ['mcp__files__read', 'mcp__files__read', true],
    ['mcp__files', 'cat', true],
    ['cat', 'mcp__files__read', true],
    ['mcp__files__write', 'mcp__files__read', false],
    ['mcp__files__rea', 'mcp__files__read', false],
    ['mcp__files', 'mcp__files2__read', false],
    ['mcp__files', 'mcp__my__files__read', false],
    ['mcp__file', 'mcp__files__read', false],
    ['files', 'mcp__files__read', false],
  ])('P5 the deny rule %s for a call of %s: %s', async (rule, name, isDenied) => {
    const toolDecisions = new Map<string, Decision>()
    const { executor, add } = testTurn(tools(), { context: { permissions: { deny: [rule] }, toolDecisions } })
    add('a', name)
    await flush()
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(isDenied)
    expect(toolDecisions.get('a')).toEqual(
      isDenied ? { behavior: 'deny', source: { by: 'rule', rule } } : { behavior: 'allow', source: { by: 'host' } },
    )
    if (isDenied) expect(textOf(result)).toContain(JSON.stringify(rule).slice(1, -1))
  })
})
