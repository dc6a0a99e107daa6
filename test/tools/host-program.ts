import { join, resolve } from 'node:path'
import { build } from 'vite'
import { put } from './bench.ts'

const source = resolve(import.meta.dirname, '../../src')

/** A program of its own that has `bash(command, more)`, a tool set made with `options`, and whatever else is written. */
export async function hostProgram(root: string, body: string): Promise<string> {
  const program = put(
    join(root, 'host.js'),
    `import { existsSync } from 'node:fs'
    import { createTools } from ${JSON.stringify(join(source, 'tools/index.ts'))}
    import { createAssistantMessage, createToolUseContext } from ${JSON.stringify(join(source, 'index.ts'))}
    const options = JSON.parse(process.argv[2])
    const set = createTools({ root: process.cwd(), shell: options.shell })
    const tool = set.tools.find(({ name }) => name === 'Bash')
    const bash = async (command, more = {}) =>
      (await tool.call({ command, ...more }, createToolUseContext(), undefined, createAssistantMessage([]), () => {})).data
    const exists = async (file) => {
      while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    ${body}`,
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
  return join(root, 'out/host.mjs')
}
