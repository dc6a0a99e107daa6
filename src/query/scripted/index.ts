export { recordedModel } from './recorded-model.ts'
export type { ScriptItem, ScriptTurn } from './script.ts'
export { type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './scripted-model.ts'
