// The input of the readers of settings: parsed flags and the contents of the files that they name.

import { readFileSync } from 'node:fs'
import { flagError } from './flags/flag.js'
import type { FlagName } from './flags/flag-table.js'
import type { ParsedFlags } from './flags/parse-flags.js'

export interface SettingsInput extends ParsedFlags {
  /** Contents of the files that flags name, by path. */
  readonly files: ReadonlyMap<string, string>
  /** Reads files that are named inside those files. */
  readonly readText: ReadText
}

/** Throws the error of the file system if the file cannot be read. */
export type ReadText = (path: string) => string

export const readFromDisk: ReadText = (path) => readFileSync(path, 'utf8')

/** Prefixes errors of `read` with the flag and the path of its file. */
export function prefixErrors<T>(flag: FlagName, read: () => T, path?: string): T {
  try {
    return read()
  } catch (error) {
    throw flagError(flag, `${path === undefined ? '' : `${path}: `}${(error as Error).message}`)
  }
}
