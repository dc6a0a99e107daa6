import { join } from 'node:path'
import { builtProject } from '../../../test/support/built-project.ts'
import { put } from './bench.ts'

/** A separate program with `bash(command, more)`, a tool set created with `options`, and further code. */
export function hostProgram(root: string, body: string): string {
  const built = builtProject()
  return put(
    join(root, 'host.mjs'),
    `import { existsSync } from 'node:fs'
    import { createTools } from ${JSON.stringify(join(built, 'packages/tools/dist/index.js'))}
    import { createAssistantMessage, createToolUseContext } from ${JSON.stringify(join(built, 'dist/src/index.js'))}
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
}
