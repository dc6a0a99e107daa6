export { type BullRunner, type BullRunnerOptions, bullRunner } from './bull-runner.ts'
export type { EngineOptions, EngineWarning } from './engine.ts'
export { type RedisJournals, type RedisJournalsOptions, redisJournals } from './journals/redis-journals.ts'
export { keySeal } from './seal.ts'
export { type ServedTools, type ServeToolsOptions, serveTools } from './serve-tools.ts'
export {
  type ServedSessionOptions,
  type ServedSessions,
  type ServeSessionsOptions,
  serveSessions,
} from './sessions/serve-sessions.ts'
export { type SessionQueue, type SessionQueueOptions, sessionQueue } from './sessions/session-queue.ts'
