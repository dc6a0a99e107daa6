import { describe, expect, it } from 'vitest'
import { ThinkingBinding } from '../support/thinking-binding.ts'

/** The test service rejects thinking whose conversation has changed, like the real one. */
describe('signed thinking is bound to the messages before it', () => {
  const user = (text: string, rest: object = {}) => ({ role: 'user', content: [{ type: 'text', text, ...rest }] })
  const thought = (signature: string) => ({ type: 'thinking', thinking: '', signature })
  const call = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: {} })
  const said = (...content: object[]) => ({ role: 'assistant', content })
  const result = (tool_use_id: string, content = 'ok') => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id, content }],
  })
  const request = (...messages: object[]) => ({ system: 'Be brief.', tools: [{ name: 'Read' }], messages })
  const first = request(user('Go.'))
  const second = request(user('Go.'), said(thought('one'), call('a')), result('a'))
  const replied = () => {
    const binding = new ThinkingBinding()
    for (const [asked, signature] of [
      [first, 'one'],
      [second, 'two'],
    ] as const) {
      const heard = binding.replyTo(asked)
      heard({ type: 'content_block_start', index: 0, content_block: thought('') })
      heard({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature } })
      heard({ type: 'content_block_stop', index: 0 })
    }
    return binding
  }
  const whole = [...second.messages, said(thought('two'), call('b')), result('b')]

  it.each([
    ['nothing has changed', request(...whole)],
    ['only a cache mark was set', request(user('Go.', { cache_control: { type: 'ephemeral' } }), ...whole.slice(1))],
    ['the first thought is left out', request(user('Go.'), said(call('a')), ...whole.slice(2))],
    ['all are left out, and a result with them', request(user('Go.'), said(call('a')), result('a', 'removed'))],
  ])('fits if %s', (_, asked) => {
    expect(replied().flaws(asked)).toEqual([])
  })

  it.each([
    ['the prompt', request(user('Stop.'), ...whole.slice(1))],
    ['a result', request(...whole.slice(0, 2), result('a', 'removed'), ...whole.slice(3))],
    ['the system prompt', { ...request(...whole), system: 'Be long.' }],
    ['the tools', { ...request(...whole), tools: [] }],
    ['the place of a thought', request(user('Go.'), said(call('a'), thought('one')), ...whole.slice(2))],
    ['a turn that is gone', request(user('Go.'), ...whole.slice(3))],
  ])('is rejected after a change of %s', (_, asked) => {
    expect(replied().flaws(asked)).not.toEqual([])
  })

  it('is rejected if thinking between others is left out', () => {
    const binding = replied()
    const heard = binding.replyTo(request(...whole))
    heard({ type: 'content_block_start', index: 0, content_block: thought('three') })
    heard({ type: 'content_block_stop', index: 0 })
    const last = said(thought('three'), { type: 'text', text: 'So.' })
    expect(binding.flaws(request(...whole, last, user('Thanks.')))).toEqual([])
    const holed = [...second.messages, said(call('b')), result('b'), last, user('Thanks.')]
    expect(binding.flaws(request(...holed))).not.toEqual([])
  })
})
