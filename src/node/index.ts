export { type FileResultStore, type FileResultStoreOptions, fileResultStore } from './file-result-store.ts'
