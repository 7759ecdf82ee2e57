// Locks a data folder for one process. Node.js has no file locks, but a reader of an LMDB file holds one, which ends with the process.
// That lock is lost if the process closes another handle of the file, so an owner file names the process as well.

import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { StorageRefusedError } from '../storage.js'

export const lockFileName = 'owner.mdb'
export const ownerFileName = 'owner.json'

export interface FolderLock {
  release(): Promise<void>
}

/** Folders locked by this process: a second lock would release the first. */
const lockedByThisProcess = new Set<string>()

export function lockFolder(folder: string): FolderLock {
  const { dev, ino } = statSync(folder)
  const folderId = `${dev}:${ino}`
  if (lockedByThisProcess.has(folderId)) throw refusal(folder, process.pid)
  const path = join(folder, lockFileName)
  const root = open({ path, noSubdir: true, overlappingSync: false, maxReaders: 16, encoding: 'binary' })
  makePrivate(path)
  const ownerFile = join(folder, ownerFileName)
  const holderPid = lockAsReader(root) ?? runningOwner(ownerFile)
  if (holderPid !== undefined) {
    void root.close()
    throw refusal(folder, holderPid)
  }
  try {
    writeFileSync(ownerFile, JSON.stringify({ pid: process.pid, started: startTimeOf(process.pid) }), { mode: 0o600 })
  } catch (error) {
    // Such as on a full disk: a retry must not find the folder locked by this process.
    void root.close()
    throw error
  }
  lockedByThisProcess.add(folderId)
  return {
    async release() {
      rmSync(ownerFile, { force: true })
      await root.close()
      lockedByThisProcess.delete(folderId)
    },
  }
}

/** LMDB creates its files with mode 0664: another user who can open them could take the lock. */
function makePrivate(path: string): void {
  for (const file of [path, `${path}-lock`]) chmodSync(file, 0o600)
}

const ownerCheck = { tries: 20, pauseMs: 50 }

/** The process in the owner file, unless it is exiting: the kernel releases locks before a process ends. */
function runningOwner(ownerFile: string): number | undefined {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  let owner = ownerOf(ownerFile)
  for (let i = 0; i < ownerCheck.tries && owner !== undefined; i++) {
    Atomics.wait(pause, 0, 0, ownerCheck.pauseMs)
    owner = ownerOf(ownerFile)
  }
  return owner
}

/** The pid in the owner file if that process still runs. The start time detects a reused pid. */
function ownerOf(ownerFile: string): number | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(ownerFile, 'utf8')) as { readonly pid: number; readonly started: string }
    return pid !== process.pid && started !== '' && startTimeOf(pid) === started ? pid : undefined
  } catch {
    return undefined // no owner file, or an incomplete one: the LMDB lock decides
  }
}

function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? '' : (fields[19] ?? '') // Z: a zombie holds no lock
  } catch {
    return '' // no such process, or no /proc
  }
}

/** Enters LMDB's reader table, or returns the pid of its reader. The write transaction excludes other processes. */
function lockAsReader(root: RootDatabase): number | undefined {
  return root.transactionSync(() => {
    root.readerCheck()
    const holderPid = /^\s*(\d+)\s/m.exec(root.readerList())?.[1]
    if (holderPid !== undefined) return Number(holderPid)
    // Never closed: the lock lasts as long as the file is open.
    root.useReadTransaction()
    return undefined
  })
}

function refusal(folder: string, holderPid: number): StorageRefusedError {
  return new StorageRefusedError(`the data folder ${folder} is in use by process ${holderPid}: stop that process or choose another folder`)
}
