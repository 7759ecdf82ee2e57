// A log file that is rotated: when it is too long it is put aside under the time of day, and what was put aside is compressed and removed in time.

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
import { type Logger, silentLogger } from '../base/logger.js'
import type { LineTarget } from './log-backend.js'

export interface Rotation {
  readonly path: string
  readonly maxBytes: number
  /** Days; 0: for ever. */
  readonly maxAgeDays: number
  /** 0: any number. */
  readonly maxBackups: number
  readonly compresses: boolean
}

export interface LogFileParts {
  readonly logger?: Logger
  readonly now?: () => number
}

const dayMs = 86_400_000
const newline = Buffer.from('\n')
/** How much more is written to a file that could not be put aside before that is tried again. */
const retryBytes = 1 << 20

export class LogFile implements LineTarget {
  readonly #rotation: Rotation
  readonly #logger: Logger
  readonly #now: () => number
  #descriptor: number | undefined
  #bytes = 0
  /** Pipes and devices such as `/dev/null` stay where they are. */
  #isFile = true
  /** The file ends with a part of a line: a server that was killed or a disk that was full may have left it. */
  #isLineOpen = false
  /** The length at which the file is put aside. */
  #mostBytes: number
  /** What was put aside is dealt with one time after the other. */
  #tidying: Promise<void> = Promise.resolve()

  /** Throws where the file cannot be opened. */
  constructor(rotation: Rotation, { logger = silentLogger, now = Date.now }: LogFileParts = {}) {
    this.#rotation = rotation
    this.#logger = logger
    this.#now = now
    this.#mostBytes = rotation.maxBytes
    this.#open()
    // Time has passed since the last rotation, and it may have been cut off.
    if (this.#isFile) this.#tidySoon()
  }

  /** Writes all of it, or throws and leaves the file as it was. */
  append(lines: Buffer): undefined {
    let descriptor = this.#descriptor ?? this.#open()
    if (this.#bytes > 0 && this.#bytes + lines.length > this.#mostBytes && this.#isFile) descriptor = this.#rotate()
    if (this.#isLineOpen) this.#write(descriptor, newline)
    this.#isLineOpen = false
    this.#write(descriptor, lines)
  }

  async close(): Promise<void> {
    this.#drop()
    await this.#tidying
  }

  #write(descriptor: number, lines: Buffer): void {
    const { length } = lines
    let at = 0
    try {
      while (at < length) at += writeSync(descriptor, lines, at)
    } catch (thrown) {
      if (at > 0) this.#takeBack(descriptor, at)
      this.#drop()
      throw thrown
    }
    this.#bytes += length
  }

  /** What was written of lines when the disk was full. Where it has to stay, it is ended when the file is opened anew. */
  #takeBack(descriptor: number, written: number): void {
    try {
      // Others who write to the same file keep what is theirs.
      if (fstatSync(descriptor).size === this.#bytes + written) ftruncateSync(descriptor, this.#bytes)
    } catch (err) {
      this.#logger.warn({ err }, 'cannot remove a partial line from the audit log')
    }
  }

  /** With its folder, which may have been removed with it. */
  #open(): number {
    const { path } = this.#rotation
    mkdirSync(dirname(path), { recursive: true })
    const descriptor = openSync(path, 'a', 0o600)
    this.#descriptor = descriptor
    const stats = fstatSync(descriptor)
    this.#bytes = stats.size
    this.#isFile = stats.isFile()
    this.#isLineOpen = this.#isFile && stats.size > 0 && lastByte(path, stats.size) !== newline[0]
    return descriptor
  }

  /** The next line opens the file anew. */
  #drop(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  /** A file that cannot be put aside is continued: better too long a file than lost lines. */
  #rotate(): number {
    const { path, maxBytes } = this.#rotation
    this.#drop()
    try {
      // Somebody else may have moved or removed it.
      if (existsSync(path)) renameSync(path, this.#backupName())
      this.#mostBytes = maxBytes
    } catch (err) {
      this.#mostBytes = this.#bytes + retryBytes
      this.#logger.warn({ err }, 'cannot rotate the audit log; appending to the current file')
      return this.#open()
    }
    const descriptor = this.#open()
    this.#tidySoon()
    return descriptor
  }

  /** What fails is tried again with the next rotation. */
  #tidySoon(): void {
    const { maxBackups, maxAgeDays, compresses } = this.#rotation
    if (maxBackups === 0 && maxAgeDays === 0 && !compresses) return
    this.#tidying = this.#tidying
      .then(() => this.#tidy())
      .catch((err: unknown) => this.#logger.warn({ err }, 'cannot compress or remove old audit logs'))
  }

  #backupName(): string {
    const { path } = this.#rotation
    const ending = extname(path)
    // Two within a millisecond have different names.
    for (let ms = this.#now(); ; ms++) {
      const time = new Date(ms).toISOString().slice(0, -1).replaceAll(':', '-')
      const name = join(dirname(path), `${basename(path, ending)}-${time}${ending}`)
      if (!existsSync(name) && !existsSync(`${name}.gz`)) return name
    }
  }

  async #tidy(): Promise<void> {
    const { path, maxBackups, maxAgeDays, compresses } = this.#rotation
    const folder = dirname(path)
    const backups = await this.#backups(folder)
    const oldest = maxAgeDays === 0 ? Number.NEGATIVE_INFINITY : this.#now() - maxAgeDays * dayMs
    for (const [i, { name, ms }] of backups.entries()) {
      if ((maxBackups > 0 && i >= maxBackups) || ms < oldest) await rm(join(folder, name), { force: true })
      else if (compresses && !name.endsWith('.gz')) await compress(join(folder, name))
    }
  }

  /** The newest first. */
  async #backups(folder: string): Promise<readonly { readonly name: string; readonly ms: number }[]> {
    const ending = extname(this.#rotation.path)
    const beginning = `${basename(this.#rotation.path, ending)}-`
    const found: { name: string; ms: number }[] = []
    for (const name of await readdir(folder)) {
      const plain = name.endsWith('.gz') ? name.slice(0, -3) : name
      if (!plain.startsWith(beginning) || !plain.endsWith(ending)) continue
      const time = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(plain.slice(beginning.length, plain.length - ending.length))
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

/** Under its own name only when it is whole. */
async function compress(path: string): Promise<void> {
  const unfinished = `${path}.gz.tmp`
  await pipeline(createReadStream(path), createGzip(), createWriteStream(unfinished, { mode: 0o600 }))
  await rename(unfinished, `${path}.gz`)
  await rm(path)
}
