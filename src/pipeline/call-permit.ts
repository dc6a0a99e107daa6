import type { Decision } from '../../machines/index.ts'
import type { PermissionSettings } from '../permission/permission-settings.ts'
import type { PermissionQuestion } from '../tool/permission.ts'
import type { AskedCall } from './ask-channel.ts'

/** Whether one call may run, as far as that is known. */
export class CallPermit {
  decision: Decision | undefined
  /** The host has been asked, and nobody has answered yet. */
  isAsking = false
  /** The question as it was reported to the session. */
  reported: AskedCall | undefined
  /** The words of the hook or the tool that wants the host asked. */
  message: string | undefined
  /** The settings that the decision was made by. */
  settings: PermissionSettings | undefined
  /** How many deny rules had been added to the session when it was last decided. */
  denyRulesSeen = 0

  get question(): PermissionQuestion {
    const because = this.decision?.source ?? { by: 'mode', mode: 'default' }
    return { because, ...(this.message !== undefined && { message: this.message }) }
  }
}
