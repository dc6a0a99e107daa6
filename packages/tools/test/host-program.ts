import { join } from 'node:path'
import { builtProject } from '../../../scripts/built-project.mjs'
import { put } from './bench.ts'

/** A separate program with `bash(command, more)`, a tool set created with `options`, and further code. */
export function hostProgram(root: string, body: string): string {
  const built = builtProject()
  return put(
    join(root, 'host.mjs'),
    `import { existsSync } from 'node:fs'
    import { createTools } from ${JSON.stringify(join(built, 'packages/tools/dist/index.js'))}
    import { allowAllTools, createAssistantMessage, createToolUseContext, query } from ${JSON.stringify(join(built, 'dist/src/index.js'))}
    import { scriptedModel } from ${JSON.stringify(join(built, 'dist/src/query/scripted/index.js'))}
    const options = JSON.parse(process.argv[2])
    const set = createTools({ root: process.cwd(), shell: options.shell })
    const tool = set.tools.find(({ name }) => name === 'Bash')
    const bash = async (command, more = {}) =>
      (await tool.call({ command, ...more }, context, undefined, createAssistantMessage([]), () => {})).data
    const context = { ...createToolUseContext(), detach: () => true }
    /** Runs a command in the background of a query, whose model goes on when the file is there. */
    const inBackground = async (command, file) => {
      const call = { call: 'Bash', input: { command, run_in_background: true } }
      const scripted = scriptedModel([[call], 'It runs.'])
      let replies = 0
      const model = async function* (request) {
        if (replies++ > 0) await exists(file)
        yield* scripted(request)
      }
      const run = query({ messages: 'Start it.', tools: set.tools, canUseTool: allowAllTools, model })
      for await (const message of run) if (message.type === 'user') console.log(message.message.content[0].content)
      return run.result.reason
    }
    const exists = async (file) => {
      while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    ${body}`,
  )
}
