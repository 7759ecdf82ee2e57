// A log file that is rotated: when it is too long it is put aside under the time of day, and what was put aside is compressed and removed in time.

import { closeSync, createReadStream, createWriteStream, existsSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
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

const dayMs = 86_400_000

export class LogFile implements LineTarget {
  readonly #rotation: Rotation
  readonly #now: () => number
  #descriptor: number | undefined
  #bytes = 0
  /** What was put aside is dealt with one time after the other. */
  #tidying: Promise<void> = Promise.resolve()

  /** Throws where the file cannot be opened. */
  constructor(rotation: Rotation, now: () => number = Date.now) {
    this.#rotation = rotation
    this.#now = now
    mkdirSync(dirname(rotation.path), { recursive: true })
    this.#open()
  }

  /** Writes all of it, or throws. */
  append(lines: Buffer): undefined {
    const { length } = lines
    if (this.#bytes > 0 && this.#bytes + length > this.#rotation.maxBytes) this.#rotate()
    const descriptor = this.#descriptor ?? this.#open()
    try {
      for (let at = 0; at < length; ) at += writeSync(descriptor, lines, at)
    } catch (thrown) {
      this.#drop()
      throw thrown
    }
    this.#bytes += length
  }

  async close(): Promise<void> {
    this.#drop()
    await this.#tidying
  }

  #open(): number {
    const descriptor = openSync(this.#rotation.path, 'a', 0o600)
    this.#descriptor = descriptor
    this.#bytes = fstatSync(descriptor).size
    return descriptor
  }

  /** The next line opens the file anew. */
  #drop(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  #rotate(): void {
    const { path } = this.#rotation
    this.#drop()
    renameSync(path, this.#backupName())
    this.#open()
    this.#tidying = this.#tidying.then(() => this.#tidy()).catch(() => undefined) // the next rotation tries again
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

/** Under its own name only when it is whole. */
async function compress(path: string): Promise<void> {
  const unfinished = `${path}.gz.tmp`
  await pipeline(createReadStream(path), createGzip(), createWriteStream(unfinished, { mode: 0o600 }))
  await rename(unfinished, `${path}.gz`)
  await rm(path)
}
