// Small files that only their owner can read: keys, tokens, kubeconfig. Writes are atomic.

import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The generated token of --testkit. */
export const testkitTokenFile = (dataDir: string): string => join(dataDir, 'testkit.token')

/** Undefined if the file does not exist. */
export function readOptionalFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Creates missing parents. `recursive` of Node.js does not return for folders such as /proc. */
export function makePrivateFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makePrivateFolder(parent)
  mkdirSync(path, { mode: 0o700 })
}

/** A reader sees the old or the new content, also after a crash. `syncFolder` makes the name durable. */
export function writePrivateFile(path: string, content: string): void {
  makePrivateFolder(dirname(path))
  const draft = `${path}.${process.pid}.draft`
  try {
    // An existing file could belong to another user, have another mode, or be a link.
    rmSync(draft, { force: true })
    syncAndClose(openSync(draft, 'wx', 0o600), (file) => writeFileSync(file, content))
    renameSync(draft, path)
  } catch (thrown) {
    rmSync(draft, { force: true })
    // Errors of a file descriptor lack the path.
    throw Object.assign(thrown as NodeJS.ErrnoException, { path })
  }
}

/** A renamed file is durable once its folder is synced. */
export const syncFolder = (path: string): void => syncAndClose(openSync(path, 'r'), () => undefined)

function syncAndClose(file: number, write: (file: number) => void): void {
  try {
    write(file)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
