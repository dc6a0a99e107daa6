import { describe, expect, it } from 'vitest'
import type { AnyTool, PermissionQuestion, PermissionSettings } from '../../src/index.ts'
import { collectWarnings, done, expectNoStrays, raise, roughTool } from '../cases/support.ts'
import { flush, testTurn } from '../support/turn.ts'

expectNoStrays()

const payTool = (more: object): AnyTool =>
  roughTool('Pay', done, { matchesRule: (spec: string, { to }: { to: string }) => to === spec, ...more })

/** The question about one call of the tool. */
async function questionAbout(tool: AnyTool, input: object, permissions?: PermissionSettings) {
  let asked: PermissionQuestion | undefined
  const { add, executor } = testTurn([tool], {
    canUseTool: (_tool, _input, _context, _message, _id, question) => {
      asked = question
      return { behavior: 'later' }
    },
    context: permissions === undefined ? {} : { permissions },
  })
  const warnings = collectWarnings(executor)
  add('a', 'Pay', input)
  await flush()
  const [open] = executor.openQuestions()
  expect(open?.rule).toBe(asked?.rule)
  executor.abort('over')
  await flush()
  return { asked, warnings }
}

describe('the rule of a question', () => {
  it('S3 is the tool, where rules for it have no specifier', async () => {
    expect((await questionAbout(roughTool('Pay', done, {}), {})).asked?.rule).toBe('Pay')
    const checked = roughTool('Pay', done, { checkPermissions: () => undefined })
    expect((await questionAbout(checked, {})).asked?.rule).toBe('Pay')
  })

  it('S3 is the one that the tool gives for exactly this call, and it prevents the next such question', async () => {
    const tool = payTool({ exactRule: ({ to }: { to: string }) => to })
    const { asked } = await questionAbout(tool, { to: 'ann' })
    expect(asked?.rule).toBe('Pay(ann)')
    expect((await questionAbout(tool, { to: 'ann' }, { allow: ['Pay(ann)'] })).asked).toBeUndefined()
    expect((await questionAbout(tool, { to: 'bob' }, { allow: ['Pay(ann)'] })).asked?.rule).toBe('Pay(bob)')
  })

  it.each<[string, object]>([
    ['has no exactRule', {}],
    ['knows none', { exactRule: () => undefined }],
    ['gives no text', { exactRule: () => 7 }],
    ['gives an empty text', { exactRule: () => '' }],
    ['gives one that does not match', { exactRule: () => 'bob' }],
    ['gives one that only its tool can take', { exactRule: () => 'ann', matchesRule: () => raise(new Error('no')) }],
  ])('S3 is absent if the tool %s', async (_, more) => {
    const { asked } = await questionAbout(payTool(more), { to: 'ann' })
    expect([asked?.because.by, asked?.rule]).toEqual(['mode', undefined])
  })

  it('S3 is absent if exactRule throws, with a warning', async () => {
    const tool = payTool({ exactRule: () => raise(new Error('broken')) })
    const { asked, warnings } = await questionAbout(tool, { to: 'ann' })
    expect([asked?.because.by, asked?.rule]).toEqual(['mode', undefined])
    expect(warnings.all).toMatchObject([{ code: 'rule_check_failed' }])
  })

  it('S3 is absent where a rule or the tool asks each time', async () => {
    const exactRule = ({ to }: { to: string }): string => to
    const asking = payTool({ exactRule, checkPermissions: () => ({ behavior: 'ask' }) })
    expect((await questionAbout(asking, { to: 'ann' })).asked).toEqual({ because: { by: 'tool' } })
    const { asked } = await questionAbout(payTool({ exactRule }), { to: 'ann' }, { ask: ['Pay'] })
    expect(asked).toEqual({ because: { by: 'rule', rule: 'Pay' } })
  })
})
