// Gives disk space back: LMDB uses freed pages again but never shortens its file, so a file that is mostly free pages is written anew.

import { chmodSync, mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { draftPath, privateFolder } from './lmdb-folder.js'
import { spaceUse, type Tables } from './lmdb-tables.js'

const leastFreeBytes = 64 << 20

export interface ShrinkOptions {
  /** How much of the file was in use at the busiest time lately: what will soon be needed again is not given back. */
  readonly peakBytes: number
  /** Not worth it when more than this had to be copied, because writes wait meanwhile. */
  readonly mostCopiedBytes: number
}

/** Whether more than 64 MiB and more than half of the file are free, and the disk has room for a copy of the rest. */
export function isWorthRewriting(tables: Tables, path: string, { peakBytes, mostCopiedBytes }: ShrinkOptions): boolean {
  const { fileBytes, usedBytes } = spaceUse(tables)
  const neededBytes = Math.max(usedBytes, peakBytes)
  const freeBytes = fileBytes - neededBytes
  if (freeBytes <= leastFreeBytes || freeBytes <= neededBytes || usedBytes > mostCopiedBytes) return false
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize > 2 * usedBytes
}

/** Writes what the file holds, without its free pages, to the draft beside it. No batch may be under way. */
export async function writeDraft(tables: Tables, path: string): Promise<void> {
  const draft = draftPath(path)
  const folder = privateFolder(path)
  rmSync(draft, { force: true })
  rmSync(folder, { recursive: true, force: true })
  // The package makes a file that everybody can read.
  mkdirSync(folder, { mode: 0o700 })
  try {
    const copy = join(folder, 'copy')
    await tables.root.backup(copy, true)
    chmodSync(copy, 0o600)
    renameSync(copy, draft)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
