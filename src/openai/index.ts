export { fromChatChunks, type TranslationOptions } from './from-chat-chunks.ts'
export { fromResponsesEvents } from './from-responses-events.ts'
export { type ChatClient, type ChatModelOptions, openaiChatModel } from './openai-chat-model.ts'
export { openaiResponsesModel, type ResponsesClient, type ResponsesModelOptions } from './openai-responses-model.ts'
