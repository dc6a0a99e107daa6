import { describe, expect, it, onTestFinished } from 'vitest'
import { createTools, type WrapCommand } from '../src/index.ts'
import { runTool, scratch } from './bench.ts'

/** Like ssh and docker exec: only the first three file descriptors, and no variables. */
const threeChannels: WrapCommand = ({ file, args, cwd, env }) => ({
  file: 'bash',
  args: ['-c', 'exec 3>&- 4>&- 5>&- 6>&-; exec env -i PATH="$PATH" "$@"', 'wrapper', file, ...args],
  cwd,
  env,
})

describe('a wrapper that passes on only the first three file descriptors', () => {
  const bashIn = () => {
    const root = scratch({ 'sub/a.txt': 'x' })
    const { tools, close } = createTools({ root, shell: { wrapCommand: threeChannels } })
    onTestFinished(close)
    return { root, run: (command: string) => runTool(tools, 'Bash', { command }) }
  }

  it('keeps the folder, and hides the note from the model', async () => {
    const { root, run } = bashIn()
    expect((await run('cd sub; printf here')).text).toBe('here')
    expect((await run('pwd; cat a.txt')).text).toBe(`${root}/sub\nx`)
    const { progress } = await run('echo one; echo two')
    expect(progress.map(({ data }) => (data as { text: string }).text).join('')).toBe('one\ntwo\n')
  })

  it('reports exit codes, also with redirected output', async () => {
    const { run } = bashIn()
    expect((await run('echo no; exit 3')).text).toBe('no\n[Exit code 3]')
    expect((await run('cd sub; exec >/dev/null 2>&1; echo hidden; exit 4')).text).toBe('(no output)\n[Exit code 4]')
    expect((await run('pwd')).text).toMatch(/sub$/)
    expect((await run("printf 'a\\036b'; printf '\\036'")).text).toBe('a\x1eb\x1e')
  })
})
