import { defineTool, type Tool, type ToolResult, toolError } from 'signalbox'
import { z } from 'zod'
import { fileKind } from './file-kind.ts'
import { allowInside, type FileToolDeps, fileRules, placeNow } from './file-tool.ts'
import { type ReadLines, readLines } from './read-lines.ts'
import { fileError } from './workspace/describe-file-error.ts'
import { openToRead } from './workspace/open-to-read.ts'
import { readWhole } from './workspace/read-whole.ts'
import { fileKey } from './workspace/resource-key.ts'

export interface ReadOptions {
  /** @default 2_000 */
  maxLines?: number | undefined
  /** @default 2_000 */
  maxLineChars?: number | undefined
  /**
   * How many bytes are read for the hash and the line count; beyond that, only the requested lines.
   * @default 10_000_000
   */
  maxBytes?: number | undefined
  /** @default 5_000_000 */
  maxImageBytes?: number | undefined
}

export type ReadData =
  | { type: 'text'; file: string; text: string; firstLine: number; lines: number; totalLines: number; isCut: boolean }
  | { type: 'image'; file: string; mediaType: string; base64: string }

const inputSchema = z.object({
  file_path: z.string().describe('The file to read: absolute, or relative to the workspace'),
  offset: z.number().int().min(1).optional().describe('The first line to read, starting at 1'),
  limit: z.number().int().min(1).optional().describe('Number of lines to read'),
})

const headBytes = 8_192

/** Reads a file of the workspace: text with line numbers, or an image. */
export function readTool(deps: FileToolDeps, options: ReadOptions = {}): Tool<typeof inputSchema, ReadData> {
  const { maxLines = 2_000, maxLineChars = 2_000, maxBytes = 10_000_000, maxImageBytes = 5_000_000 } = options
  const { workspace, memory } = deps
  return defineTool({
    name: 'Read',
    description: `Reads a file. Returns numbered lines, at most ${maxLines} at once; lines longer than ${maxLineChars} characters are truncated. Use offset and limit for long files. Images are returned as images.`,
    inputSchema,
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    resources: ({ file_path }) => ({ reads: [fileKey(workspace, file_path)] }),
    checkPermissions: allowInside,
    ...fileRules(deps),
    async call({ file_path, offset = 1, limit = maxLines }, context): Promise<ToolResult<ReadData>> {
      const { signal } = context.abortController
      const place = await placeNow(workspace, file_path, context, ['Read'])
      const { file, facts } = await openToRead(workspace, place)
      try {
        const head = Buffer.alloc(headBytes)
        const kind = fileKind(head.subarray(0, await file.read(head, 0)))
        if (kind.kind === 'binary') {
          throw toolError(
            `${place.shown} is ${kind.what} (${facts.size} bytes), which cannot be shown as text.`,
            'BinaryFile',
          )
        }
        if (kind.kind === 'image') {
          const { bytes } = await readWhole(workspace, place, maxImageBytes)
          const base64 = Buffer.from(bytes).toString('base64')
          return { data: { type: 'image', file: place.shown, mediaType: kind.mediaType, base64 } }
        }
        const wanted = Math.min(limit, maxLines)
        const read = await readLines(file, { offset, limit: wanted, maxLineChars, maxBytes, signal })
        if (read.isStopped) return { data: textData(place.shown, offset, read), interrupted: true }
        memory.note(place.path, facts, read.hash, context)
        return { data: textData(place.shown, offset, read) }
      } catch (error) {
        throw fileError(error, `Cannot read ${place.shown}`)
      } finally {
        await file.close().catch(() => undefined)
      }
    },
    mapResult: (data, id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content:
        data.type === 'text'
          ? data.text
          : [{ type: 'image', source: { type: 'base64', media_type: data.mediaType, data: data.base64 } }],
    }),
  })
}

function textData(file: string, offset: number, read: ReadLines): ReadData {
  const { lines, total, isCut, isLineCut, isStopped } = read
  const numbered = lines.map((line, index) => `${String(offset + index).padStart(6)}\t${line}`)
  const last = offset + lines.length - 1
  const notes: string[] = []
  if (isStopped) numbered.unshift(`[Partial result: reading was stopped after line ${total} of the file.]`)
  else if (total === 0) notes.push('(The file is empty.)')
  else if (lines.length === 0 && isCut) {
    notes.push(`(The file is too large to reach line ${offset}; reading stopped at line ${total}. Use Bash instead.)`)
  } else if (lines.length === 0) notes.push(`(The file has ${total} lines; line ${offset} does not exist.)`)
  else if (isLineCut) {
    notes.push(
      `(Line ${last} is too long to be read whole, and the file continues. Use Bash, such as cut -c or head -c.)`,
    )
  } else if (isCut || last < total) {
    const all = isCut ? 'the file continues' : `the file has ${total}`
    notes.push(`(Lines ${offset} to ${last}; ${all}. Continue with offset ${last + 1}.)`)
  }
  const text = [...numbered, ...notes].join('\n')
  return { type: 'text', file, text, firstLine: offset, lines: lines.length, totalLines: total, isCut }
}
