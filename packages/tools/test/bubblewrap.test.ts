import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { inBubblewrap } from '../../../examples/bubblewrap.ts'
import { createTools } from '../src/index.ts'
import { runTool, scratch } from './bench.ts'
import { eventually } from './processes.ts'

const works = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', 'true']).status === 0
if (!works) console.warn('No test in bubblewrap: it is not installed, or cannot work here.')

describe.runIf(works)('in bubblewrap', () => {
  const setting = () => {
    const root = scratch({ 'sub/a.txt': 'inside\n' })
    const { tools, close } = createTools({ root, shell: { wrapCommand: inBubblewrap(root) } })
    onTestFinished(close)
    return { root, bash: (command: string, more: object = {}) => runTool(tools, 'Bash', { command, ...more }) }
  }

  it('a command works in the workspace, and its directory is kept', async () => {
    const { root, bash } = setting()
    expect((await bash('cd sub; cat a.txt; echo made > b.txt')).text).toBe('inside')
    expect((await bash('pwd; cat b.txt')).text).toBe(`${root}/sub\nmade`)
  })

  it('a command can neither write nor read elsewhere, and has no network', async () => {
    const outside = scratch({ 'secret.txt': 'secret' })
    const { bash } = setting()
    const { text } = await bash(
      `cat ${outside}/secret.txt; touch ${outside}/made /usr/made; ls /home /root; ip link 2>/dev/null | wc -l`,
    )
    expect(text).not.toContain('secret\n')
    expect(existsSync(join(outside, 'made')) || existsSync('/usr/made')).toBe(false)
    expect((await bash('(exec 9<>/dev/tcp/127.0.0.1/22) 2>&1 || echo none')).text).toContain('none')
  })

  it('no process outlives it, not even a hidden one', async () => {
    const { root, bash } = setting()
    const beat = `while :; do date +%N > ${root}/beat; sleep 0.02; done`
    await bash(`env -i PATH=/usr/bin:/bin setsid bash -c '${beat}' >/dev/null 2>&1 3>&- & sleep 0.3`)
    const { text } = await bash('a=$(cat beat); sleep 0.3; b=$(cat beat); [ "$a" = "$b" ] && echo still')
    expect(text).toBe('still')
    await eventually(() => existsSync(join(root, 'beat')))
  })
})
