// How the files that flags name are read.

import { readFileSync } from 'node:fs'

/** Throws what the system says where a file cannot be read. */
export type ReadText = (path: string) => string

export const readFromDisk: ReadText = (path) => readFileSync(path, 'utf8')
