// Copies a store to a target, then reads the copy back and compares count and checksum.

import { createHash } from 'node:crypto'
import { BackupError, type CopiedEntry, type CopySource, type CopySummary, type CopyTarget } from '../../storage/backup/copied-entry.js'

interface CopyOptions {
  readonly source: CopySource
  readonly target: CopyTarget
  readonly report: (progress: Progress) => void
}

export interface Progress {
  readonly step: 'copying' | 'checking'
  readonly count: number
  readonly bytes: number
}

export async function copyStore({ source, target, report }: CopyOptions): Promise<CopySummary> {
  let summary: CopySummary
  try {
    const counter = createCounter()
    for await (const page of source.pages()) {
      await target.write(page)
      counter.add(page)
      report({ step: 'copying', count: counter.count, bytes: counter.bytes })
    }
    await source.checkUnchanged()
    summary = counter.finish()
    await target.finish(summary)
  } catch (error) {
    await target.abandon()
    throw error
  }
  await verifyCopy(summary, { source, target, report })
  return summary
}

async function verifyCopy(expected: CopySummary, { source, target, report }: CopyOptions): Promise<void> {
  const copy = await target.readBack()
  try {
    const found = await summarize(copy, report)
    if (found.count !== expected.count || found.checksum !== expected.checksum) {
      throw new BackupError(
        `the copy is incomplete: ${found.count} of ${expected.count} objects, checksum ${found.checksum}, expected ${expected.checksum}`,
      )
    }
    if (copy.revision < source.revision)
      throw new BackupError(`the copy has revision ${copy.revision}, expected at least ${source.revision}`)
    if (copy.identityName !== source.identityName)
      throw new BackupError(`the copy has the identity '${copy.identityName}', expected '${source.identityName}'`)
  } finally {
    await copy.close()
  }
}

export async function summarize(source: CopySource, report: (progress: Progress) => void): Promise<CopySummary> {
  const counter = createCounter()
  for await (const page of source.pages()) {
    counter.add(page)
    report({ step: 'checking', count: counter.count, bytes: counter.bytes })
  }
  return counter.finish()
}

interface Counter {
  add(page: readonly CopiedEntry[]): void
  readonly count: number
  readonly bytes: number
  finish(): CopySummary
}

function createCounter(): Counter {
  const hash = createHash('sha256')
  const numbers = Buffer.alloc(16)
  let count = 0
  let bytes = 0
  return {
    get count() {
      return count
    },
    get bytes() {
      return bytes
    },
    add(page) {
      for (const { key, value, expiresAtMs } of page) {
        const keyBytes = Buffer.from(key)
        numbers.writeUInt32BE(keyBytes.length, 0)
        numbers.writeUInt32BE(value.length, 4)
        numbers.writeUIntBE(expiresAtMs ?? 0, 8, 6)
        hash.update(numbers).update(keyBytes).update(value)
        count += 1
        bytes += keyBytes.length + value.length
      }
    },
    finish: () => ({ count, bytes, checksum: hash.digest('hex') }),
  }
}
