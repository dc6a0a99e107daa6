import { gzipSync } from 'node:zlib'
import { build } from 'vite'

const root = new URL('..', import.meta.url).pathname
const executor = [
  'StreamingToolExecutor',
  'allowAllTools',
  'createAssistantMessage',
  'createToolUseContext',
  'defineTool',
]

/** Parts of the core that a host may import. */
export const bundles = {
  'everything that `signalbox` exports': '*',
  'the executor and what it takes to use it': `{ ${executor.join(', ')} }`,
  'the same with `query`': `{ ${[...executor, 'query'].join(', ')} }`,
}

/** The size of a part of the core as one minified file, plain and compressed. */
export async function bundleSize(names, { isInside }) {
  const entry = 'virtual:entry.ts'
  const { output } = await build({
    root,
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? `export ${names} from '${root}src/index.ts'` : undefined),
      },
    ],
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      rolldownOptions: {
        input: entry,
        preserveEntrySignatures: 'strict',
        external: isInside ? [] : [/^(xstate|zod)(\/|$)/],
      },
    },
  })
  const code = output.map((chunk) => chunk.code).join('')
  return { minified: Buffer.byteLength(code), gzip: gzipSync(code, { level: 9 }).byteLength }
}
