// Where things are, seen from the compiled tools: everything under test is reached from the root of the repository.

import { fileURLToPath } from 'node:url'

/** Ends with a slash. */
export const repoRoot = fileURLToPath(new URL('../../../', import.meta.url))
export const commandPath = `${repoRoot}bin/cluster-apiserver`
