import { describe, expect, it } from 'vitest'
import { allowAllTools, query } from '../../src/index.ts'
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
})
