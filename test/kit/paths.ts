// Paths of the repository, as seen from the compiled tests.

import { fileURLToPath } from 'node:url'

/** Ends with a slash. */
export const repoRoot = fileURLToPath(new URL('../../../', import.meta.url))
export const commandPath = `${repoRoot}bin/cluster-apiserver`
