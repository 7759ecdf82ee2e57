// Keeps a data folder to one process. Node has no file locks, but LMDB does: a process that reads from a small file of its own in the folder
// holds a lock of the operating system on it, which ends with the process however that ends, and which works across containers. Such a
// lock is lost when anything in the process closes another handle of the file, so that a note of who owns the folder stands beside it.

import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { StorageRefusedError } from './storage.js'

export const lockFileName = 'owner.mdb'
export const ownerNoteName = 'owner.json'

export interface FolderLock {
  release(): Promise<void>
}

/** Folders that this process has open: a second lock of the same process would take the first one's away. */
const heldHere = new Set<string>()

export function lockFolder(folder: string): FolderLock {
  const { dev, ino } = statSync(folder)
  const identity = `${dev}:${ino}`
  if (heldHere.has(identity)) throw refusal(folder, process.pid)
  const path = join(folder, lockFileName)
  const root = open({ path, noSubdir: true, overlappingSync: false, maxReaders: 16, encoding: 'binary' })
  makePrivate(path)
  const note = join(folder, ownerNoteName)
  const holder = becomeReader(root) ?? lastingOwner(note)
  if (holder !== undefined) {
    void root.close()
    throw refusal(folder, holder)
  }
  try {
    writeFileSync(note, JSON.stringify({ pid: process.pid, started: startOf(process.pid) }), { mode: 0o600 })
  } catch (error) {
    // On a full disk, say: whoever tries again later must not find the folder in use by itself.
    void root.close()
    throw error
  }
  heldHere.add(identity)
  return {
    async release() {
      rmSync(note, { force: true })
      await root.close()
      heldHere.delete(identity)
    },
  }
}

/** LMDB creates its files with mode 0664: another user who can open them could take the lock. */
function makePrivate(path: string): void {
  for (const file of [path, `${path}-lock`]) chmodSync(file, 0o600)
}

const patience = { tries: 20, pauseMs: 50 }

/** Whom the note names, unless that process is just about to end: the kernel lets go of its locks before it is gone. */
function lastingOwner(note: string): number | undefined {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  let owner = ownerOf(note)
  for (let i = 0; i < patience.tries && owner !== undefined; i++) {
    Atomics.wait(pause, 0, 0, patience.pauseMs)
    owner = ownerOf(note)
  }
  return owner
}

/** Who wrote the note, if that process still runs; a process of the same number that began at another time is another one. */
function ownerOf(note: string): number | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(note, 'utf8')) as { readonly pid: number; readonly started: string }
    return pid !== process.pid && started !== '' && startOf(pid) === started ? pid : undefined
  } catch {
    return undefined // no note, or half of one: the other lock decides
  }
}

/** When a process began, in the kernel's own count; empty where that cannot be told. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? '' : (fields[19] ?? '') // a process that has ended and was not collected yet holds nothing
  } catch {
    return '' // it does not run, or this system does not say
  }
}

/** Enters the table of readers unless somebody is in it: then who. The write transaction keeps others from doing the same meanwhile. */
function becomeReader(root: RootDatabase): number | undefined {
  return root.transactionSync(() => {
    root.readerCheck()
    const holder = /^\s*(\d+)\s/m.exec(root.readerList())?.[1]
    if (holder !== undefined) return Number(holder)
    // Never given back: the lock lasts as long as the file is open.
    root.useReadTransaction()
    return undefined
  })
}

function refusal(folder: string, holder: number): StorageRefusedError {
  return new StorageRefusedError(`the data folder ${folder} is in use by process ${holder}: stop that process or choose another folder`)
}
