// Rotating log file: a full file is renamed with a timestamp; backups are removed by number and age, and compressed if configured.

import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Logger, silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { LineWriter } from './log-backend.js'

interface Rotation {
  readonly path: string
  readonly maxBytes: number
  /** 0: unlimited. */
  readonly maxAgeDays: number
  /** 0: unlimited number. */
  readonly maxBackups: number
  readonly shouldCompress: boolean
}

interface LogFileParts {
  readonly logger?: Logger
  readonly now?: () => number
}

const dayMs = 86_400_000
const newline = Buffer.from('\n')
/** Bytes written after a failed rotation before the next attempt. */
const retryBytes = 1 << 20

export class RotatingLogFile implements LineWriter {
  readonly #rotation: Rotation
  readonly #logger: Logger
  readonly #now: () => number
  #descriptor: number | undefined
  #bytes = 0
  #isFile = true
  /** True if the last line is partial, after a killed server or a full disk. */
  #endsInPartialLine = false
  #rotateAtBytes: number
  #cleaningUp: Promise<void> = Promise.resolve()

  constructor(rotation: Rotation, { logger = silentLogger, now = Date.now }: LogFileParts = {}) {
    this.#rotation = rotation
    this.#logger = logger
    this.#now = now
    this.#rotateAtBytes = rotation.maxBytes
    this.#open()
    if (this.#isFile) this.#scheduleCleanUp()
  }

  async append(lines: Buffer): Promise<void> {
    let descriptor = this.#descriptor ?? this.#open()
    if (this.#bytes > 0 && this.#bytes + lines.length > this.#rotateAtBytes && this.#isFile) descriptor = this.#rotate()
    if (this.#endsInPartialLine) this.#write(descriptor, newline)
    this.#endsInPartialLine = false
    this.#write(descriptor, lines)
  }

  async close(): Promise<void> {
    this.#closeDescriptor()
    await this.#cleaningUp
  }

  #write(descriptor: number, lines: Buffer): void {
    const { length } = lines
    let at = 0
    try {
      while (at < length) at += writeSync(descriptor, lines, at)
    } catch (thrown) {
      if (at > 0) this.#truncatePartialLine(descriptor, at)
      this.#closeDescriptor()
      throw thrown
    }
    this.#bytes += length
  }

  /** Removes the bytes of a failed append. If that fails, the partial line gets a newline before the next append. */
  #truncatePartialLine(descriptor: number, written: number): void {
    try {
      // Not if another process has appended to the file.
      if (fstatSync(descriptor).size === this.#bytes + written) ftruncateSync(descriptor, this.#bytes)
    } catch (err) {
      this.#logger.warn({ err }, 'cannot remove a partial line from the audit log; it is ended with the next line')
    }
  }

  /** Creates the folder, too. */
  #open(): number {
    const { path } = this.#rotation
    mkdirSync(dirname(path), { recursive: true })
    const descriptor = openSync(path, 'a', 0o600)
    this.#descriptor = descriptor
    const stats = fstatSync(descriptor)
    this.#bytes = stats.size
    this.#isFile = stats.isFile()
    this.#endsInPartialLine = this.#isFile && stats.size > 0 && lastByte(path, stats.size) !== newline[0]
    return descriptor
  }

  #closeDescriptor(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  /** If the file cannot be renamed, appends to it rather than lose lines. */
  #rotate(): number {
    const { path, maxBytes } = this.#rotation
    this.#closeDescriptor()
    try {
      if (existsSync(path)) renameSync(path, this.#backupName())
      this.#rotateAtBytes = maxBytes
    } catch (error) {
      this.#rotateAtBytes = this.#bytes + retryBytes
      this.#logger.warn({ error }, 'cannot rotate the audit log; appending to the current file')
      return this.#open()
    }
    const descriptor = this.#open()
    this.#scheduleCleanUp()
    return descriptor
  }

  #scheduleCleanUp(): void {
    const { maxBackups, maxAgeDays, shouldCompress } = this.#rotation
    if (maxBackups === 0 && maxAgeDays === 0 && !shouldCompress) return
    this.#cleaningUp = this.#cleaningUp
      .then(() => this.#cleanUpBackups())
      .catch((error: unknown) => this.#logger.warn({ error }, 'cannot compress or remove old audit logs'))
  }

  #backupName(): string {
    const { path } = this.#rotation
    const extension = extname(path)
    // Two rotations within a millisecond need different names.
    for (let ms = this.#now(); ; ms++) {
      const time = new Date(ms).toISOString().slice(0, -1).replaceAll(':', '-')
      const name = join(dirname(path), `${basename(path, extension)}-${time}${extension}`)
      if (!existsSync(name) && !existsSync(`${name}.gz`)) return name
    }
  }

  async #cleanUpBackups(): Promise<void> {
    const { path, maxBackups, maxAgeDays, shouldCompress } = this.#rotation
    const folder = dirname(path)
    const backups = await this.#backups(folder)
    const oldest = maxAgeDays === 0 ? Number.NEGATIVE_INFINITY : this.#now() - maxAgeDays * dayMs
    for (const [i, { name, ms }] of backups.entries()) {
      if ((maxBackups > 0 && i >= maxBackups) || ms < oldest) await rm(join(folder, name), { force: true })
      else if (shouldCompress && !name.endsWith('.gz')) await compress(join(folder, name))
    }
  }

  async #backups(folder: string): Promise<readonly { readonly name: string; readonly ms: number }[]> {
    const extension = extname(this.#rotation.path)
    const prefix = `${basename(this.#rotation.path, extension)}-`
    const found: { name: string; ms: number }[] = []
    for (const name of await readdir(folder)) {
      const uncompressedName = name.endsWith('.gz') ? name.slice(0, -3) : name
      if (!uncompressedName.startsWith(prefix) || !uncompressedName.endsWith(extension)) continue
      const time = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(
        uncompressedName.slice(prefix.length, uncompressedName.length - extension.length),
      )
      if (time !== null) found.push({ name, ms: Date.parse(`${time[1]}:${time[2]}:${time[3]}Z`) })
    }
    return found.sort((a, b) => b.ms - a.ms)
  }
}

function lastByte(path: string, size: number): number | undefined {
  const descriptor = openSync(path, 'r')
  const byte = Buffer.alloc(1)
  try {
    return readSync(descriptor, byte, 0, 1, size - 1) === 1 ? byte[0] : undefined
  } finally {
    closeSync(descriptor)
  }
}

/** Renames the compressed file only when it is complete. */
async function compress(path: string): Promise<void> {
  const unfinished = `${path}.gz.tmp`
  await pipeline(createReadStream(path), createGzip(), createWriteStream(unfinished, { mode: 0o600 }))
  await rename(unfinished, `${path}.gz`)
  await rm(path)
}
