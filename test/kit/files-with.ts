// Finds files that contain a string, to check that secrets are not on disk.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files below a folder that contain one of the strings. */
export const filesWith = (folder: string, texts: readonly string[]): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => join(found.parentPath, found.name))
    .filter((path) => texts.some((text) => readFileSync(path).includes(text)))
