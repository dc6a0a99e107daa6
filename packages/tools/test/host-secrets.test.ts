import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { scratch } from './bench.ts'
import { hostProgram } from './host-program.ts'

it.runIf(process.platform === 'linux')('a command in a group cannot read the variables of the host', async () => {
  const root = scratch()
  const program = hostProgram(
    root,
    `const before = { ...process.env }
    const { output } = await bash('tr "\\\\0" "\\\\n" < /proc/$PPID/environ; cat /proc/$PPID/environ | wc -c')
    const child = await import('node:child_process')
    const inherited = child.execFileSync(process.execPath, ['-p', 'process.env.SECRET_KEY']).toString().trim()
    console.log(JSON.stringify({ output, inherited, isSame: JSON.stringify(before) === JSON.stringify({ ...process.env }) }))
    await set.close()`,
  )
  const { stdout, stderr } = spawnSync(process.execPath, [program, JSON.stringify({ shell: { isolation: 'group' } })], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, SECRET_KEY: 'sk-very-secret', EMPTY: '', ODD: 'a=b=c' },
  })
  expect(stderr).toBe('')
  const { output, inherited, isSame } = JSON.parse(stdout)
  // it can read the file, which contains only what a shell gets anyway
  expect(output).toContain('PATH=')
  expect(output).not.toContain('sk-very-secret')
  // the host itself and its programs still have them
  expect({ inherited, isSame }).toEqual({ inherited: 'sk-very-secret', isSame: true })
})
