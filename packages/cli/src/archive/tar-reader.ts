// Reads a tar archive from chunks: one header at a time, contents in the chunks in which they arrive.

import { blockBytes, paddingOf, type RawHeader, readHeader, readPaxRecords, type TarEntry, TarError } from './tar-header.js'

/** Limit of a pax header and of a GNU long name. */
const maxExtensionBytes = 1024 * 1024

export interface EntryWriter {
  write(data: Buffer): void | Promise<void>
  end(): void | Promise<void>
}

/** Returns undefined to skip the contents of the entry. */
type OnEntry = (entry: TarEntry) => EntryWriter | undefined | Promise<EntryWriter | undefined>

export class TarReader {
  private readonly onEntry: OnEntry
  private partialBlock: Buffer = Buffer.alloc(0)
  private remaining = 0
  private padding = 0
  private writer: EntryWriter | undefined
  private extension: { readonly typeFlag: string; readonly chunks: Buffer[] } | undefined
  private hasEnded = false
  /** Values for the next entry, and for all next entries. */
  private next: Map<string, string> = new Map()
  private global: ReadonlyMap<string, string> = new Map()

  constructor(onEntry: OnEntry) {
    this.onEntry = onEntry
  }

  async push(chunk: Uint8Array): Promise<void> {
    let data = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    while (data.length > 0 && !this.hasEnded) {
      if (this.remaining > 0) {
        const part = data.subarray(0, this.remaining)
        data = data.subarray(part.length)
        this.remaining -= part.length
        // Copied: the caller may reuse the memory of the chunk.
        if (this.extension !== undefined) this.extension.chunks.push(Buffer.from(part))
        else await this.writer?.write(part)
        if (this.remaining === 0) await this.endEntry()
      } else if (this.padding > 0) {
        const skipped = Math.min(this.padding, data.length)
        this.padding -= skipped
        data = data.subarray(skipped)
      } else {
        const missing = blockBytes - this.partialBlock.length
        this.partialBlock = Buffer.concat([this.partialBlock, data.subarray(0, missing)])
        data = data.subarray(missing)
        if (this.partialBlock.length < blockBytes) return
        const header = readHeader(this.partialBlock)
        this.partialBlock = Buffer.alloc(0)
        if (header === undefined) this.hasEnded = true
        else await this.startEntry(header)
      }
    }
  }

  /** Throws if the archive is incomplete. */
  finish(): void {
    if (!this.hasEnded && (this.remaining > 0 || this.partialBlock.length > 0 || this.next.size > 0)) throw new TarError('unexpected EOF')
  }

  private async startEntry(header: RawHeader): Promise<void> {
    const { typeFlag } = header
    if ('xgLK'.includes(typeFlag)) {
      if (header.size > maxExtensionBytes) throw new TarError(`a header is larger than ${maxExtensionBytes} bytes`)
      this.extension = { typeFlag, chunks: [] }
      this.setSize(header.size)
      if (header.size === 0) await this.endEntry()
      return
    }
    if (typeFlag === 'S') throw new TarError(`${header.name}: sparse files are not supported`)
    const extended = (key: string): string | undefined => this.next.get(key) ?? this.global.get(key)
    const size = extended('size')
    if (size !== undefined && !/^\d{1,15}$/.test(size)) throw new TarError('the size in a pax record is not valid')
    const entry: TarEntry = {
      name: extended('path') ?? header.name,
      type: header.type,
      size: size === undefined ? header.size : Number(size),
      mode: header.mode,
      linkName: extended('linkpath') ?? header.linkName,
    }
    this.next = new Map()
    // Other types have no contents, although some writers store a size.
    this.setSize(entry.type === 'file' || entry.type === 'other' ? entry.size : 0)
    this.writer = await this.onEntry(entry)
    if (this.remaining === 0) await this.endEntry()
  }

  private setSize(size: number): void {
    this.remaining = size
    this.padding = paddingOf(size)
  }

  private async endEntry(): Promise<void> {
    const { extension, writer } = this
    this.extension = undefined
    this.writer = undefined
    if (extension === undefined) {
      await writer?.end()
      return
    }
    const data = Buffer.concat(extension.chunks)
    if (extension.typeFlag === 'g') this.global = readPaxRecords(data)
    else if (extension.typeFlag === 'x') this.next = new Map([...this.next, ...readPaxRecords(data)])
    else this.next.set(extension.typeFlag === 'L' ? 'path' : 'linkpath', data.toString('utf8').split('\0')[0] ?? '')
  }
}
