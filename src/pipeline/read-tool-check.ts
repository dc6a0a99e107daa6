import { describeError } from '../base/describe-error.ts'
import { describeValue } from '../base/describe-value.ts'
import { readField } from '../base/read-field.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { ToolCheck } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolCallContext } from '../tool/tool-use-context.ts'

/** The tool's own permission check. If the check fails or returns an invalid value, the call is denied. */
export async function readToolCheck(
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolCallContext,
): Promise<ToolCheck | undefined> {
  try {
    const check: unknown = await tool.checkPermissions?.(input, context)
    if (check === undefined) return undefined
    const behavior = readField(check, 'behavior')
    const message = readField(check, 'message')
    if (behavior === 'allow' || behavior === 'ask' || behavior === 'deny') {
      return { behavior, ...(typeof message === 'string' && message !== '' && { message }) }
    }
    return forbid(`checkPermissions: expected behavior allow, ask or deny, received ${describeValue(check, 80)}.`)
  } catch (error) {
    return forbid(describeError(error))
  }
}

const forbid = (problem: string): ToolCheck => ({
  behavior: 'deny',
  message: resultTexts.askingFailed(problem).toolUseResult,
})
