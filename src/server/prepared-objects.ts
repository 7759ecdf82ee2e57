// The file in which the build keeps the objects of a fresh server, one for each vocabulary, beside the script that was built.

import { readFileSync } from 'node:fs'
import type { Prepared } from '../controllers/bootstrap/prepared.js'
import type { Settings } from './options/settings.js'

/** Undefined where there is none, as beside the modules by themselves: then the objects are made at the start. */
export function preparedObjects({ identity, controllers }: Pick<Settings, 'identity' | 'controllers'>): Prepared | undefined {
  try {
    return { bytes: readFileSync(new URL(`start-objects-${identity.name}.bin`, import.meta.url)), loops: controllers }
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
}
