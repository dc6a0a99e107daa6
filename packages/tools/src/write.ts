import { defineTool, type Tool, type ToolResult } from 'signalbox'
import { z } from 'zod'
import { editRules, type FileToolDeps, fileRules, placeNow } from './file-tool.ts'
import { freshFile } from './fresh-file.ts'
import { hashOf } from './workspace/read-whole.ts'
import { fileKey } from './workspace/resource-key.ts'
import { writeWhole } from './workspace/write-whole.ts'

export interface WriteData {
  file: string
  bytes: number
  isNew: boolean
}

const inputSchema = z.object({
  file_path: z.string().describe('The file to write: absolute, or relative to the workspace'),
  content: z.string().describe('The whole new content of the file'),
})

const maxBytes = 100_000_000

/** Writes a whole file: a new one, or one that was read before. */
export function writeTool(deps: FileToolDeps): Tool<typeof inputSchema, WriteData> {
  const { workspace, memory } = deps
  return defineTool({
    name: 'Write',
    description: 'Writes a whole file and creates missing folders. Read an existing file before you overwrite it.',
    inputSchema,
    ruleNames: ['Edit'],
    resources: ({ file_path }) => ({ writes: [fileKey(workspace, file_path)] }),
    ...editRules(deps),
    ...fileRules(deps),
    async call({ file_path, content }, context): Promise<ToolResult<WriteData>> {
      const place = await placeNow(workspace, file_path, context, ['Write', 'Edit'])
      const bytes = Buffer.from(content)
      const replaces = place.exists ? (await freshFile(deps, place, maxBytes)).facts : undefined
      context.abortController.signal.throwIfAborted()
      memory.note(place.path, await writeWhole(workspace, place, bytes, { replaces }), hashOf(bytes), context)
      return { data: { file: place.shown, bytes: bytes.length, isNew: !place.exists }, interrupted: false }
    },
    mapResult: ({ file, bytes, isNew }, id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: `${isNew ? 'Created' : 'Replaced'} ${file} (${bytes} bytes).`,
    }),
  })
}
