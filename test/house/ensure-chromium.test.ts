import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const script = resolve(import.meta.dirname, '../../scripts/ensure-chromium.mjs')

describe('the look for Chromium', () => {
  it('says what to do where there is none, and fails', () => {
    const env = { ...process.env, CHROMIUM: '/nowhere/chromium' }
    const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toContain('There is no Chromium at /nowhere/chromium.')
    expect(stderr).toContain('apt-get install chromium')
  })
})
