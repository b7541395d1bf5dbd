import { findBinary } from './find-binary.js'
import type { RequiredProgram } from './required-program.js'

/** A real browser for the dashboard's tests. */
export const chromiumProgram: RequiredProgram<string> = {
  name: 'Chromium',
  find: () =>
    process.env['CHROMIUM_PATH'] ??
    findBinary('chromium') ??
    findBinary('chromium-browser') ??
    findBinary('google-chrome'),
  debianPackage: 'chromium',
  variable: 'CHROMIUM_PATH',
  path: true,
}
