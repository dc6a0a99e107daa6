export { showInWindow, type WindowOptions, type WindowShowing } from './show-in-window.ts'
