import { sha256 } from '../base/sha256.ts'
import type { AnyTool } from '../tool/tool.ts'
import { toolSchemas } from '../tool/tool-schemas.ts'
import type { RemoteTool } from './tool-runner.ts'

/** What a worker compares with its own tool of that name. */
export const remoteToolOf = (tool: AnyTool): RemoteTool => ({
  name: tool.name,
  version: tool.version === undefined ? undefined : String(tool.version),
  schemaHash: schemaHashOf(JSON.stringify(toolSchemas([tool])[0]?.input_schema)),
})

export const schemaHashOf = (jsonSchema: string): string => sha256(jsonSchema)

/** Why a worker may not run a call that was sent for `wanted`; undefined if it may. */
export function mismatchOf(wanted: RemoteTool, own: RemoteTool | undefined): string | undefined {
  const { name, version, schemaHash } = wanted
  if (own === undefined) return `the worker has no tool named ${name}.`
  if (own.version !== version) {
    return `the worker has version ${own.version ?? '(none)'} of ${name}, and the call needs ${version ?? '(none)'}.`
  }
  if (own.schemaHash !== schemaHash) return `the worker has another input schema for ${name}.`
  return undefined
}
