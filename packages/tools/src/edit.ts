import { defineTool, type Tool, type ToolResult, toolError } from 'signalbox'
import { z } from 'zod'
import { applyEdit, type TextEdit } from './apply-edit.ts'
import { editRules, type FileToolDeps, fileRules, placeNow } from './file-tool.ts'
import { freshFile } from './fresh-file.ts'
import { lineDiff } from './line-diff.ts'
import { hashOf } from './workspace/read-whole.ts'
import { fileKey } from './workspace/resource-key.ts'
import { writeWhole } from './workspace/write-whole.ts'

export interface EditData {
  file: string
  /** A unified diff. */
  diff: string
}

const editSchema = z.object({
  old_string: z.string().min(1).describe('The text to replace, exactly as it appears in the file'),
  new_string: z.string().describe('The replacement text'),
  replace_all: z.boolean().optional().describe('Replace every occurrence instead of exactly one'),
})
const inputSchema = z.object({
  file_path: z.string().describe('The file to change: absolute, or relative to the workspace'),
  ...editSchema.partial().shape,
  edits: z
    .array(editSchema)
    .min(1)
    .optional()
    .describe('Several replacements, applied in order, instead of old_string and new_string'),
})
type EditInput = z.output<typeof inputSchema>

const maxBytes = 10_000_000

/** Changes a file that was read before: exact replacements, all or none. */
export function editTool(deps: FileToolDeps): Tool<typeof inputSchema, EditData> {
  const { workspace, memory } = deps
  const rules = fileRules(deps)
  return defineTool({
    name: 'Edit',
    description:
      'Replaces text in a file. Read the file first. old_string must match exactly once, unless replace_all is set. Several edits are applied in order, all or none.',
    inputSchema,
    resources: ({ file_path }) => ({ writes: [fileKey(workspace, file_path)] }),
    ...editRules(deps),
    ...rules,
    async validateInput(input) {
      const problem = problemOf(input)
      return problem === undefined ? rules.validateInput(input) : { result: false, message: problem }
    },
    async call(input, context): Promise<ToolResult<EditData>> {
      const place = await placeNow(workspace, input.file_path, context, ['Edit'])
      if (!place.exists) throw toolError(`File ${place.shown} does not exist. Use Write to create it.`, 'ENOENT')
      const { bytes, facts } = await freshFile(deps, place, maxBytes)
      const before = decode(bytes, place.shown)
      const edits = editsOf(input)
      const after = edits.reduce(
        (text, edit, index) => applyEdit(text, edit, edits.length === 1 ? place.shown : `Edit ${index + 1}`),
        before,
      )
      if (after === before) throw toolError('The edits change nothing.', 'NoChange')
      context.abortController.signal.throwIfAborted()
      const encoded = Buffer.from(after)
      memory.note(
        place.path,
        await writeWhole(workspace, place, encoded, { replaces: facts }),
        hashOf(encoded),
        context,
      )
      return { data: { file: place.shown, diff: lineDiff(before, after, place.shown) }, interrupted: false }
    },
    mapResult: ({ file, diff }, id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: diff === '' ? `Changed ${file}: line endings only.` : `Changed ${file}:\n${diff}`,
    }),
  })
}

const editsOf = ({ edits, old_string = '', new_string = '', replace_all }: EditInput): readonly TextEdit[] =>
  edits ?? [{ old_string, new_string, replace_all }]

function problemOf({ edits, old_string, new_string }: EditInput): string | undefined {
  const isSingle = old_string !== undefined || new_string !== undefined
  if (edits !== undefined && isSingle) return 'Pass either edits, or old_string and new_string, not both.'
  if (edits === undefined && (old_string === undefined || new_string === undefined)) {
    return 'Pass old_string and new_string, or edits.'
  }
  const all = edits ?? [{ old_string, new_string }]
  const idle = all.findIndex((edit) => edit.old_string === edit.new_string)
  return idle < 0 ? undefined : `Edit ${idle + 1} has equal old_string and new_string. Change one of them.`
}

function decode(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw toolError(`${shown} is not valid UTF-8 text; editing would corrupt it. Use another tool.`, 'NotText')
  }
}
