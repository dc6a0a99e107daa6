import { z } from 'zod'
import { defineTool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { hashOf } from '../workspace/read-whole.ts'
import { toolError } from '../workspace/tool-error.ts'
import { writeWhole } from '../workspace/write-whole.ts'
import { applyEdit, type TextEdit } from './apply-edit.ts'
import { editRules, type FileDesk, fileRules, placeOf } from './file-tool.ts'
import { freshFile } from './fresh-file.ts'
import { lineDiff } from './line-diff.ts'

export interface EditData {
  file: string
  /** In the unified form. */
  diff: string
}

const editSchema = z.object({
  old_string: z.string().min(1).describe('The text to replace, exactly as it stands in the file'),
  new_string: z.string().describe('The text to put in its place'),
  replace_all: z.boolean().optional().describe('Replace every occurrence, not just a single one'),
})
const inputSchema = z.object({
  file_path: z.string().describe('The file to change: absolute, or relative to the workspace'),
  ...editSchema.partial().shape,
  edits: z.array(editSchema).min(1).optional().describe('Several replacements, one after the other, in place of one'),
})
type EditInput = z.output<typeof inputSchema>

const maxBytes = 10_000_000

/** Changes a file that was read: exact replacements, all of them or none. */
export function editTool(desk: FileDesk): Tool<typeof inputSchema, EditData> {
  const { workspace, memory } = desk
  const rules = fileRules(desk)
  return defineTool({
    name: 'Edit',
    description:
      'Replaces text in a file that was read before. old_string must match exactly and only once, unless replace_all is set. Several edits are applied in order, all or none.',
    inputSchema,
    ...editRules(desk),
    ...rules,
    async validateInput(input) {
      const problem = problemOf(input)
      return problem === undefined ? rules.validateInput(input) : { result: false, message: problem }
    },
    async call(input, context): Promise<{ data: EditData }> {
      const place = await placeOf(workspace, input.file_path)
      if (!place.exists) throw toolError(`There is no file ${place.shown}. Use Write to make one.`, 'ENOENT')
      const { bytes, facts } = await freshFile(desk, place, maxBytes)
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
      return { data: { file: place.shown, diff: lineDiff(before, after, place.shown) } }
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
  if (edits !== undefined && isSingle) return 'Give either edits or old_string and new_string, not both.'
  if (edits === undefined && (old_string === undefined || new_string === undefined)) {
    return 'Give old_string and new_string, or edits.'
  }
  const all = edits ?? [{ old_string, new_string }]
  const idle = all.findIndex((edit) => edit.old_string === edit.new_string)
  return idle < 0 ? undefined : `Edit ${idle + 1} replaces a text by itself.`
}

function decode(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw toolError(`${shown} is not UTF-8 text, so it cannot be edited without harm.`, 'NotText')
  }
}
