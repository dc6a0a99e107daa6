import { describeError } from '../errors/describe-error.ts'
import { readField } from '../errors/read-field.ts'
import { resultTexts } from '../results/result-texts.ts'
import { describeValue } from '../text/describe-value.ts'
import type { ToolCheck } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolCall } from './tool-call.ts'

/** The tool's own word on whether this call may run. A check that fails or cannot be understood forbids. */
export async function readToolCheck(
  call: ToolCall,
  tool: AnyTool,
  input: Record<string, unknown>,
): Promise<ToolCheck | undefined> {
  try {
    const check: unknown = await tool.checkPermissions?.(input, call.context)
    if (check === undefined) return undefined
    const behavior = readField(check, 'behavior')
    const message = readField(check, 'message')
    if (behavior === 'allow' || behavior === 'ask' || behavior === 'deny') {
      return { behavior, ...(typeof message === 'string' && message !== '' && { message }) }
    }
    return forbid(`checkPermissions returned ${describeValue(check, 80)}, which is neither allow, ask nor deny.`)
  } catch (error) {
    return forbid(describeError(error))
  }
}

const forbid = (problem: string): ToolCheck => ({
  behavior: 'deny',
  message: resultTexts.askingFailed(problem).toolUseResult,
})
