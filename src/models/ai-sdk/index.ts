export { type ApprovalRequest, approvalAnswer, approvalRequest } from '../approvals.ts'
export { type AiSdkModelOptions, aiSdkModel, type LanguageModelLike } from './ai-sdk-model.ts'
export { fromStreamParts, type StreamPartOptions } from './from-stream-parts.ts'
