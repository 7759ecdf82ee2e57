// Reads the writes that are in the log but not in the data file, after a crash or for a backup of a running server, and opens the log.

import { type Row, type StagedWrite, stagedOf } from '../commit-queue.js'
import { Memtable } from '../memtable.js'
import { StorageRefusedError } from '../storage.js'
import { syncFolderOf } from './data-folder.js'
import type { Snapshot } from './snapshot.js'
import { type LogContents, readLog, WriteAheadLog } from './write-ahead-log.js'

export interface Recovered {
  readonly memtable: Memtable
  /** Initial value of the log's checksums. */
  readonly seed: number
  /** Number of the last log record. */
  readonly lastNumber: number
  /** Revision up to which writes are missing from the log; undefined: none. */
  readonly gapUntil: number | undefined
}

export function recover(path: string, snapshot: Snapshot): Recovered {
  const checkpointed = snapshot.lastRevision()
  const seed = snapshot.metaNumber('log') ?? 0
  const { writes, lastNumber, gapUntil } = readLog(path, seed, checkpointed)
  const memtable = new Memtable(checkpointed)
  for (const write of writes) memtable.add([stageWrite(write, memtable, snapshot)])
  return { memtable, seed, lastNumber, gapUntil }
}

/** Throws StorageRefusedError when a part of the log is missing. */
export function refuseGap(folder: string, { memtable, gapUntil }: Recovered): void {
  if (gapUntil === undefined) return
  const missing = `revisions ${memtable.revision + 1} to ${gapUntil} are missing from its log`
  throw new StorageRefusedError(`the data folder ${folder} is damaged, ${missing}: restore the folder from a backup or choose an empty one`)
}

function stageWrite(write: LogContents['writes'][number], memtable: Memtable, snapshot: Snapshot): StagedWrite {
  const { key, value, revision, position, expiresAtMs } = write
  const before = memtable.newest(key)
  const previousRow: Row | undefined = before ? before.row : snapshot.row(key)
  return stagedOf({ write: { key, value, expiresAtMs }, previousRow, position, revision })
}

/** Opens the log for writing, and syncs its folder: a crash may lose the name of a new file. */
export async function openLog(path: string, { memtable, seed, lastNumber }: Recovered): Promise<WriteAheadLog> {
  const log = new WriteAheadLog({ path, seed, lastNumber, checkpointed: () => memtable.checkpointed })
  try {
    // Also if the files exist: the process that created them may have been killed before the sync.
    await syncFolderOf(path)
    return log
  } catch (error) {
    await log.close(false)
    throw error
  }
}
