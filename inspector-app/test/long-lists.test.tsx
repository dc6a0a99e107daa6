import { describe, expect, it } from 'vitest'
import { call, show, start, texts } from './support.tsx'

describe('long lists', () => {
  it('say how many refusals there were, where not all are listed', async () => {
    const { push, store } = show(...start, ...call('a', 0), ...call('b', 1))
    store.set({ tab: 'guards' })
    for (let count = 0; count < 250; count++) {
      const refusal = { call: 'b', because: 'waitsForRunning', blockers: [`a${count}`] } as const
      push({ type: 'guards', actor: 'x:0', event: '', candidates: [], refusal })
    }
    const note = 'The newest 200 of 250 refusals. Move the time bar back to see the others.'
    await expect.poll(() => texts('.refusals > .empty')).toEqual([note])
    expect(document.querySelectorAll('.refusals ol > li').length).toBe(200)
    store.seek(100)
    await expect.poll(() => texts('.refusals > .empty')).toEqual([])
    expect(texts('.refusals h3')[0]).toMatch(/^Refusals \d\d$/)
  })

  it('P6 draw a very long input in parts, and accept a yes only after the last one', async () => {
    const input = { command: Array.from({ length: 5_000 }, (_, line) => `echo ${line}`).join('\n') }
    const { push, store } = show(...start, ...call('a', 0))
    store.set({ source: 'live', allowed: ['answer'] })
    push({ type: 'questions', open: [{ call: 'a', name: 'Bash', input }] })
    const box = (): HTMLElement | null => document.querySelector('.question .input')
    const drawn = (): number => document.querySelectorAll('.question .input .text').length
    const allow = (): HTMLButtonElement | null => document.querySelector('.question .allow')
    await expect.poll(drawn).toBe(1_999)
    expect(box()?.textContent).toContain('3,001 more lines')
    for (const lines of [3_999, 5_000]) {
      expect(allow()?.disabled).toBe(true)
      box()?.scrollTo(0, 1e9)
      await expect.poll(drawn).toBe(lines)
    }
    expect(allow()?.disabled).toBe(true)
    box()?.scrollTo(0, 1e9)
    await expect.poll(() => allow()?.disabled).toBe(false)
    expect(box()?.textContent).toContain('echo 4999')
  })
})
