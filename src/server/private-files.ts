// Small files that only their owner may read: keys, tokens, client configuration. Written whole or not at all.

import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Undefined when there is no such file. */
export function readOptionalFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** With the folders above it, as far as they are missing. Node's own `recursive` tries forever where a folder cannot be made, as in /proc. */
export function makePrivateFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makePrivateFolder(parent)
  mkdirSync(path, { mode: 0o700 })
}

/** A reader sees the old content or the new one, also after a crash; folders on the way are made. */
export function writePrivateFile(path: string, content: string): void {
  makePrivateFolder(dirname(path))
  const draft = `${path}.${process.pid}.draft`
  try {
    const file = openSync(draft, 'w', 0o600)
    try {
      writeFileSync(file, content)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    // Writing to an open file fails without a word about which one, and the operator wants to know.
    throw Object.assign(error as NodeJS.ErrnoException, { path })
  }
}
