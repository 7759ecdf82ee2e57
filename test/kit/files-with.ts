// Which files on the disk have a text in them, whatever their format: for what must not be there.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files below a folder that hold one of the texts. */
export const filesWith = (folder: string, texts: readonly string[]): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => join(found.parentPath, found.name))
    .filter((path) => texts.some((text) => readFileSync(path).includes(text)))
