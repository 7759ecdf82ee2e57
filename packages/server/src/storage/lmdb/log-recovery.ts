// What a data file lacks and its log has: what a crash has left there, or what a server at work has not brought into the file yet.

import { type Row, type StagedWrite, stagedOf } from './commit-batch.js'
import { syncFolderOf } from './lmdb-folder.js'
import type { Snapshot } from './lmdb-snapshot.js'
import { Memtable } from './memtable.js'
import { StorageRefusedError } from './storage.js'
import { type LogContents, readLog, WriteAheadLog } from './write-ahead-log.js'

export interface Recovered {
  readonly memtable: Memtable
  /** What the checksums of the log begin with. */
  readonly seed: number
  readonly lastNumber: number
  /** See LogContents. */
  readonly gapUntil: number | undefined
}

export function recover(path: string, snapshot: Snapshot): Recovered {
  const checkpointed = snapshot.lastRevision()
  const seed = snapshot.number('log') ?? 0
  const { writes, lastNumber, gapUntil } = readLog(path, seed, checkpointed)
  const memtable = new Memtable(checkpointed)
  for (const write of writes) memtable.add([staged(write, memtable, snapshot)])
  return { memtable, seed, lastNumber, gapUntil }
}

/** Throws StorageRefusedError when a part of the log is missing. */
export function refuseGap(folder: string, { memtable, gapUntil }: Recovered): void {
  if (gapUntil === undefined) return
  const missing = `revisions ${memtable.revision + 1} to ${gapUntil} are missing from its log`
  throw new StorageRefusedError(`the data folder ${folder} is damaged, ${missing}: restore the folder from a backup or choose an empty one`)
}

function staged(write: LogContents['writes'][number], memtable: Memtable, snapshot: Snapshot): StagedWrite {
  const { key, value, revision, position, expiresAtMs } = write
  const before = memtable.newest(key)
  const previousRow: Row | undefined = before ? before.row : snapshot.row(key)
  return stagedOf({ write: { key, value, expiresAtMs }, previousRow, position, revision })
}

/** Opens the log to be written to. A crash may take the name of a new file with it, unless its folder has been synced. */
export async function openLog(path: string, { memtable, seed, lastNumber }: Recovered): Promise<WriteAheadLog> {
  const log = new WriteAheadLog({ path, seed, lastNumber, checkpointed: () => memtable.checkpointed })
  try {
    // Also where they are there: whoever made them may have been killed before this.
    await syncFolderOf(path)
    return log
  } catch (error) {
    await log.close(false)
    throw error
  }
}
