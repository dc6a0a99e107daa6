import { describe, expect, it } from 'vitest'
import { allowAllTools, query } from '../../src/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { subAgent } from '../../src/query/sub-agent/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'
import { useBrowser } from './support.ts'

const stage = useBrowser()

describe('commands from the browser to a query', () => {
  it.each([
    ['Stop the agent', 'inspector', 'The model and every call stop. The agent ends.'],
    ['Finish and stop', 'interrupt', 'The model stops. Calls that block an interrupt finish. The agent ends.'],
  ])('L6 %s ends the query: the model is not asked again, and the transcript is valid', async (name, why, says) => {
    const held = heldModel()
    const read = heldTool('Read', { safe: true, cancel: true, obedient: true })
    const run = query({ messages: 'go', tools: [read.tool], model: held.model, canUseTool: allowAllTools })
    const server = await stage.serve([], { commands: true })
    server.add(run)
    const page = await stage.open(server.url)
    await page.locator('.source.live').waitFor()
    const ended = (async () => {
      for await (const _ of run);
      return run.result
    })()
    await expect.poll(() => held.requests.length).toBe(1)
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await expect.poll(() => read.started).toEqual(['a'])
    const buttons = page.locator('.commands button')
    await expect.poll(() => buttons.allTextContents()).toEqual(['Finish and stop', 'Stop the agent'])
    const button = page.getByRole('button', { name })
    expect(await button.getAttribute('title')).toBe(says)
    await button.click()
    expect(await ended).toMatchObject({ reason: 'aborted_tools', abortReason: why })
    expect(held.requests).toHaveLength(1)
    expect(checkTranscript(run.transcript).ok).toBe(true)
    await expect.poll(() => buttons.count()).toBe(0)
    expect(stage.complaints).toEqual([])
  })

  it('L6 stop the agent while the model replies, from an older turn, and while one looks at the past', async () => {
    const held = heldModel()
    const read = heldTool('Read', { safe: true, cancel: true, obedient: true })
    const run = query({ messages: 'go', tools: [read.tool], model: held.model, canUseTool: allowAllTools })
    const server = await stage.serve([], { commands: true })
    server.add(run)
    const page = await stage.open(server.url)
    await page.locator('.source.live').waitFor()
    const ended = (async () => {
      for await (const _ of run);
      return run.result
    })()
    await expect.poll(() => held.requests.length).toBe(1)
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await expect.poll(() => read.started).toEqual(['a'])
    read.run('a').finish()
    await expect.poll(() => held.requests.length).toBe(2)
    // the second turn has no calls yet, so the page still shows the first one
    const buttons = page.locator('.commands button')
    await expect.poll(() => page.locator('.tile.ok').count()).toBe(1)
    await expect.poll(() => buttons.allTextContents()).toEqual(['Finish and stop', 'Stop the agent'])
    await page.locator('.conversation .line').click()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Home')
    await expect.poll(() => page.locator('.tile').count()).toBe(0)
    expect(await buttons.allTextContents()).toEqual(['Finish and stop', 'Stop the agent'])
    await page.getByRole('button', { name: 'Stop the agent' }).click()
    expect(await ended).toMatchObject({ reason: 'aborted_streaming', abortReason: 'inspector' })
    expect(held.requests).toHaveLength(2)
    await expect.poll(() => buttons.count()).toBe(0)
    expect(stage.complaints).toEqual([])
  })

  it.each([
    ['Stop the agent', 1],
    ['Stop the sub-agent', 2],
  ])('L6 %s means that agent, while the page shows the question of a sub-agent', async (name, requests) => {
    const held = heldModel()
    const server = await stage.serve([], { commands: true })
    const agent = subAgent({
      model: scriptedModel([[{ call: 'Write', input: {} }], 'not written']),
      tools: () => [heldTool('Write').tool],
      onQuery: (inner, { toolUseID }) => server.add(inner, { title: 'Agent, turn', parentToolUseID: toolUseID }),
    })
    const run = query({
      messages: 'go',
      tools: [agent],
      model: held.model,
      canUseTool: (tool) => (tool.name === 'Agent' ? { behavior: 'allow' } : new Promise(() => undefined)),
    })
    server.add(run)
    const page = await stage.open(server.url)
    await page.locator('.source.live').waitFor()
    const ended = (async () => {
      for await (const _ of run);
      return run.result
    })()
    await expect.poll(() => held.requests.length).toBe(1)
    held.start()
    held.call('toolu_1', 'Agent', { description: 'write', prompt: 'Write it.' })
    held.end('tool_use')
    await expect
      .poll(() => page.locator('.question .asks').textContent())
      .toContain('asks for permission for Agent, turn 1')
    const buttons = page.locator('.commands button')
    await expect
      .poll(() => buttons.allTextContents())
      .toEqual(['Finish and stop', 'Stop the agent', 'Stop the sub-agent'])
    await page.getByRole('button', { name }).click()
    if (requests === 1) expect(await ended).toMatchObject({ reason: 'aborted_tools', abortReason: 'inspector' })
    await expect.poll(() => page.locator('.question').count()).toBe(0)
    await expect.poll(() => held.requests.length).toBe(requests)
    run.abort('over')
    await ended
    expect(held.requests).toHaveLength(requests)
    expect(stage.complaints).toEqual([])
  })
})
