import { z } from 'zod'
import { defineTool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { hashOf } from '../workspace/read-whole.ts'
import { writeWhole } from '../workspace/write-whole.ts'
import { editRules, type FileDesk, fileRules, placeOf } from './file-tool.ts'
import { freshFile } from './fresh-file.ts'

export interface WriteData {
  file: string
  bytes: number
  isNew: boolean
}

const inputSchema = z.object({
  file_path: z.string().describe('The file to write: absolute, or relative to the workspace'),
  content: z.string().describe('All that the file shall hold'),
})

const maxBytes = 100_000_000

/** Writes a whole file: a new one, or one that was read before. */
export function writeTool(desk: FileDesk): Tool<typeof inputSchema, WriteData> {
  const { workspace, memory } = desk
  return defineTool({
    name: 'Write',
    description: 'Writes a whole file, with the folders it needs. A file that is there already must have been read.',
    inputSchema,
    ...editRules(desk),
    ...fileRules(desk),
    async call({ file_path, content }, context): Promise<{ data: WriteData }> {
      const place = await placeOf(workspace, file_path)
      const bytes = Buffer.from(content)
      const replaces = place.exists ? (await freshFile(desk, place, maxBytes)).facts : undefined
      context.abortController.signal.throwIfAborted()
      memory.note(place.path, await writeWhole(workspace, place, bytes, { replaces }), hashOf(bytes), context)
      return { data: { file: place.shown, bytes: bytes.length, isNew: !place.exists } }
    },
    mapResult: ({ file, bytes, isNew }, id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: `${isNew ? 'Made' : 'Replaced'} ${file} (${bytes} bytes).`,
    }),
  })
}
