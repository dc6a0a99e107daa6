import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { expect, it } from 'vitest'
import { put, scratch } from './bench.ts'
import { eventually, processesWith } from './processes.ts'

const source = resolve(import.meta.dirname, '../../src')

it('background runs end with their host, which need not wait for them', async () => {
  const token = `signalbox-${Math.random().toString(36).slice(2)}`
  const root = scratch()
  const program = put(
    join(root, 'host.js'),
    `import { existsSync } from 'node:fs'
    import { createTools } from ${JSON.stringify(join(source, 'tools/index.ts'))}
    import { createAssistantMessage, createToolUseContext } from ${JSON.stringify(join(source, 'index.ts'))}
    const { tools } = createTools({ root: process.cwd(), shell: { env: { TOKEN: '${token}' } } })
    const bash = tools.find(({ name }) => name === 'Bash')
    const input = { command: 'setsid sleep 1000 & touch begun; sleep 1000', run_in_background: true }
    const { data } = await bash.call(input, createToolUseContext(), undefined, createAssistantMessage([]), () => {})
    while (!existsSync('begun')) await new Promise((resolve) => setTimeout(resolve, 10))
    console.log(data.id)`,
  )
  await build({
    configFile: false,
    logLevel: 'silent',
    root,
    ssr: { noExternal: true },
    build: {
      ssr: program,
      outDir: join(root, 'out'),
      target: 'node20',
      rollupOptions: { output: { entryFileNames: 'host.mjs' } },
    },
  })
  const { stdout, status } = spawnSync(process.execPath, ['out/host.mjs'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  })
  expect([stdout, status]).toEqual(['bash_1\n', 0])
  // told to die, they do so in their own time
  await eventually(async () => (await processesWith(token)).length === 0)
})
