import { describe, expect, it } from 'vitest'
import { chatFlaws } from '../support/services/chat-flaws.ts'
import { promptFlaws } from '../support/services/prompt-flaws.ts'
import { responsesFlaws } from '../support/services/responses-flaws.ts'

/** The test services are as strict as the real ones. */
describe('a request to Chat Completions is rejected for', () => {
  const call = (id: string, name = 'Read', args = '{}') => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  })
  const said = (...tool_calls: object[]) => ({ role: 'assistant', content: null, tool_calls })
  const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'ok' })
  const user = { role: 'user', content: 'Go.' }
  const flaws = (...messages: object[]) => chatFlaws({ model: 'm', messages })

  it('nothing, if it is valid', () => {
    expect(flaws(user, said(call('a'), call('b')), result('b'), result('a'), user)).toEqual([])
  })

  it.each([
    ['a call without a result', [user, said(call('a')), user]],
    ['a call without a result at the end', [user, said(call('a'))]],
    ['a result without a call', [user, result('a')]],
    ['a second result', [user, said(call('a')), result('a'), result('a')]],
    ['an id that two calls have', [user, said(call('a'), call('a')), result('a')]],
    ['a name with a dot', [user, said(call('a', 'functions.Read')), result('a')]],
    ['a name that is too long', [user, said(call('a', 'x'.repeat(65))), result('a')]],
    ['arguments that are no JSON', [user, said(call('a', 'Read', '{"p":')), result('a')]],
    ['arguments that are no object', [user, said(call('a', 'Read', '[]')), result('a')]],
    ['an empty message', [user, { role: 'assistant', content: '' }]],
    ['an empty list of calls', [user, { role: 'assistant', content: 'x', tool_calls: [] }]],
    ['an empty part', [{ role: 'user', content: [{ type: 'text', text: '' }] }]],
    ['a part of another service', [{ role: 'user', content: [{ type: 'tool_result' }] }]],
    ['a field that it does not know', [user, { role: 'assistant', content: 'x', signature: 'c2ln' }]],
  ])('%s', (_, messages) => {
    expect(flaws(...messages)).not.toEqual([])
  })

  it('two tools of one name', () => {
    const tool = { type: 'function', function: { name: 'Read' } }
    expect(chatFlaws({ model: 'm', messages: [user], tools: [tool, tool] })).not.toEqual([])
  })
})

describe('a request to the Responses API is rejected for', () => {
  const call = (call_id: string, rest: object = {}) => ({
    type: 'function_call',
    call_id,
    name: 'Read',
    arguments: '{}',
    ...rest,
  })
  const output = (call_id: string, rest: object = {}) => ({
    type: 'function_call_output',
    call_id,
    output: 'ok',
    ...rest,
  })
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }
  const user = { role: 'user', content: 'Go.' }
  const caller = { type: 'program', caller_id: 'p' }
  const program = { type: 'program', id: 'prog_1', call_id: 'p', code: '', fingerprint: 'f' }
  const asked = { type: 'mcp_approval_request', id: 'r', name: 'x', arguments: '{}', server_label: 's' }
  const flaws = (store: boolean, ...input: object[]) => responsesFlaws({ model: 'm', store, input })

  it('nothing, if it is valid', () => {
    expect(flaws(false, user, reasoning, program, call('a', { caller }), output('a', { caller }))).toEqual([])
  })

  it.each([
    ['a call without an output', true, [user, call('a')]],
    ['an output without a call', true, [user, output('a')]],
    [
      'an output of another kind',
      true,
      [user, call('a'), { type: 'custom_tool_call_output', call_id: 'a', output: 'x' }],
    ],
    ['a name with a dot', true, [user, call('a', { name: 'functions.Read' }), output('a')]],
    ['a call of a program that is not there', true, [user, call('a', { caller }), output('a', { caller })]],
    ['an output without the caller of its call', true, [user, program, call('a', { caller }), output('a')]],
    ['reasoning that leads to nothing', true, [user, reasoning, user]],
    [
      'reasoning that is not encrypted, where nothing is kept',
      false,
      [user, { ...reasoning, encrypted_content: null }, call('a'), output('a')],
    ],
    ['a reference, where nothing is kept', false, [user, { type: 'item_reference', id: 'x' }]],
    ['two items with one id', true, [user, call('a', { id: 'fc' }), call('b', { id: 'fc' }), output('a'), output('b')]],
    ['a request for approval without an answer', true, [user, asked]],
    [
      'an answer that nobody asked for',
      true,
      [user, { type: 'mcp_approval_response', approval_request_id: 'r', approve: true }],
    ],
    ['an item of an unknown kind', true, [user, { type: 'thinking' }]],
    ['an empty message', true, [{ role: 'user', content: [] }]],
  ])('%s', (_, store, input) => {
    expect(flaws(store, ...input)).not.toEqual([])
  })
})

describe('a prompt of the AI SDK is rejected for', () => {
  const call = (toolCallId: string, rest: object = {}) => ({
    type: 'tool-call',
    toolCallId,
    toolName: 'Read',
    input: {},
    ...rest,
  })
  const result = (toolCallId: string, rest: object = {}) => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'Read',
    output: { type: 'text', value: 'ok' },
    ...rest,
  })
  const said = (...content: object[]) => ({ role: 'assistant', content })
  const tool = (...content: object[]) => ({ role: 'tool', content })
  const user = { role: 'user', content: [{ type: 'text', text: 'Go.' }] }
  const flaws = (...prompt: object[]) => promptFlaws({ prompt }, 'v4')

  it('nothing, if it is valid', () => {
    const searched = call('s', { toolName: 'mcp.x', providerExecuted: true })
    expect(flaws({ role: 'system', content: 'x' }, user, said(searched, call('a')), tool(result('a')), user)).toEqual(
      [],
    )
  })

  it.each([
    ['a call without a result', [user, said(call('a')), user]],
    ['a result without a call', [user, tool(result('a'))]],
    ['a result under another name', [user, said(call('a')), tool(result('a', { toolName: 'List' }))]],
    [
      'a name with a dot',
      [user, said(call('a', { toolName: 'functions.Read' })), tool(result('a', { toolName: 'functions.Read' }))],
    ],
    ['an empty text', [{ role: 'user', content: [{ type: 'text', text: '' }] }]],
    ['an empty message', [said()]],
    ['a part of another role', [{ role: 'user', content: [call('a')] }]],
    ['a request for approval', [user, said({ type: 'tool-approval-request', approvalId: 'a', toolCallId: 'b' })]],
    ['provider options that are empty', [user, said({ type: 'text', text: 'x', providerOptions: {} })]],
    ['a field that it does not know', [user, said({ type: 'text', text: 'x', signature: 'y' })]],
    [
      'a file in the form of another version',
      [{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'AAAA' }] }],
    ],
    ['a system message in the middle', [user, { role: 'system', content: 'x' }]],
  ])('%s', (_, prompt) => {
    expect(flaws(...prompt)).not.toEqual([])
  })
})
