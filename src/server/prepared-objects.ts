// The file in which the build keeps the objects of a fresh server, one for each vocabulary, beside the script that was built.

import { readFileSync } from 'node:fs'
import type { Identity } from '../api/identity.js'

/** Undefined where there is none, as beside the modules by themselves: then the objects are made at the start. */
export function preparedObjects({ name }: Identity): Buffer | undefined {
  try {
    return readFileSync(new URL(`start-objects-${name}.bin`, import.meta.url))
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
}
