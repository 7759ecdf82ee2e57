// Blocks of tar archives: ustar headers, pax records, and the GNU headers for long names and large sizes.

export const blockBytes = 512

export type EntryType = 'file' | 'directory' | 'symlink' | 'hardlink' | 'other'

export interface TarEntry {
  readonly name: string
  readonly type: EntryType
  readonly size: number
  /** Permission bits. */
  readonly mode: number
  /** Target of a symlink or hard link; empty otherwise. */
  readonly linkName: string
}

export interface WrittenEntry extends TarEntry {
  readonly uid: number
  readonly gid: number
  readonly mtimeSeconds: number
}

export class TarError extends Error {
  override readonly name = 'TarError'
}

/** Header of an archive as stored, before pax records and long names of earlier headers are applied. */
export interface RawHeader extends TarEntry {
  readonly typeFlag: string
}

const types: { readonly [flag: string]: EntryType } = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '5': 'directory',
}
const typeFlags = { file: '0', directory: '5', symlink: '2', hardlink: '1', other: '' } as const

/** Returns undefined for a block of zeros, the end of the archive. */
export function readHeader(block: Buffer): RawHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined
  let sum = 0
  for (let i = 0; i < blockBytes; i++) sum += i >= 148 && i < 156 ? 32 : (block[i] as number)
  if (numberAt(block, 148, 8) !== sum) throw new TarError('the checksum of a header is wrong')
  const hasPrefix = textAt(block, 257, 5) === 'ustar' && block[262] === 0
  const prefix = hasPrefix ? textAt(block, 345, 155) : ''
  const name = `${prefix === '' ? '' : `${prefix}/`}${textAt(block, 0, 100)}`
  const typeFlag = String.fromCharCode(block[156] as number)
  const type = types[typeFlag] ?? 'other'
  return {
    name,
    // Old archives mark a directory only by a slash.
    type: type === 'file' && name.endsWith('/') ? 'directory' : type,
    size: numberAt(block, 124, 12),
    mode: numberAt(block, 100, 8) & 0o7777,
    linkName: textAt(block, 157, 100),
    typeFlag,
  }
}

function textAt(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? length : end)
}

/** Octal, or base 256 if the first bit is set (GNU). */
function numberAt(block: Buffer, start: number, length: number): number {
  const field = block.subarray(start, start + length)
  if (((field[0] as number) & 0x80) !== 0) {
    let value = (field[0] as number) & 0x7f
    for (const byte of field.subarray(1)) value = value * 256 + byte
    return checkedNumber(value)
  }
  const text = field.toString('latin1').replaceAll('\0', ' ').trim()
  if (!/^[0-7]*$/.test(text)) throw new TarError('a number in a header is not octal')
  return checkedNumber(text === '' ? 0 : Number.parseInt(text, 8))
}

function checkedNumber(value: number): number {
  if (!Number.isSafeInteger(value)) throw new TarError('a number in a header is too large')
  return value
}

/** Records `LENGTH KEY=VALUE\n` of a pax header. */
export function readPaxRecords(data: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>()
  for (let position = 0; position < data.length; ) {
    const space = data.indexOf(32, position)
    const digits = space < 0 ? '' : data.toString('latin1', position, Math.min(space, position + 20))
    const length = /^\d+$/.test(digits) ? Number(digits) : 0
    const end = position + length
    const equals = data.indexOf(61, space)
    if (length === 0 || end > data.length || data[end - 1] !== 10 || equals < 0 || equals >= end)
      throw new TarError('a pax record is not valid')
    records.set(data.toString('utf8', space + 1, equals), data.toString('utf8', equals + 1, end - 1))
    position = end
  }
  return records
}

export const paddingOf = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes

/** Header blocks of an entry, with a pax header for values that ustar cannot represent. */
export function writeHeader(entry: WrittenEntry): Buffer {
  const records: (readonly [string, string])[] = []
  const nameParts = splitName(entry.name)
  if (nameParts === undefined) records.push(['path', entry.name])
  if (Buffer.byteLength(entry.linkName) > 100) records.push(['linkpath', entry.linkName])
  const numbers = { uid: entry.uid, gid: entry.gid, size: entry.size }
  for (const [key, limit] of [
    ['size', 8 ** 11],
    ['uid', 8 ** 7],
    ['gid', 8 ** 7],
  ] as const)
    if (numbers[key] >= limit) records.push([key, String(numbers[key])])
  const header = ustarBlock(entry, nameParts ?? ['', truncated(entry.name, 100)], typeFlags[entry.type])
  if (records.length === 0) return header
  const data = Buffer.from(records.map(([key, value]) => paxRecord(key, value)).join(''))
  const paxEntry: WrittenEntry = { ...entry, type: 'file', size: data.length, mode: 0o644, linkName: '', uid: 0, gid: 0 }
  const paxHeader = ustarBlock(paxEntry, ['', 'PaxHeaders/entry'], 'x')
  return Buffer.concat([paxHeader, data, Buffer.alloc(paddingOf(data.length)), header])
}

function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const restBytes = Buffer.byteLength(rest)
  let length = restBytes + 1
  while (restBytes + String(length).length !== length) length = restBytes + String(length).length
  return `${length}${rest}`
}

/** Prefix (155 bytes) and name (100 bytes), split at a slash; undefined if the path does not fit. */
function splitName(path: string): readonly [string, string] | undefined {
  const bytes = Buffer.from(path)
  if (bytes.length <= 100) return ['', path]
  for (let slash = bytes.lastIndexOf(47, bytes.length - 2); slash > 0; slash = bytes.lastIndexOf(47, slash - 1)) {
    if (bytes.length - slash - 1 > 100) return undefined
    if (slash <= 155) return [bytes.toString('utf8', 0, slash), bytes.toString('utf8', slash + 1)]
  }
  return undefined
}

const truncated = (text: string, maxBytes: number): string =>
  Buffer.from(text)
    .subarray(0, maxBytes)
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e]/g, '_')

function ustarBlock(entry: WrittenEntry, [prefix, name]: readonly [string, string], typeFlag: string): Buffer {
  const block = Buffer.alloc(blockBytes)
  const octal = (value: number, start: number, length: number): void => {
    const limited = value < 8 ** (length - 1) ? Math.max(0, value) : 0
    block.write(limited.toString(8).padStart(length - 1, '0'), start, 'latin1')
  }
  block.write(name, 0, 100)
  octal(entry.mode & 0o7777, 100, 8)
  octal(entry.uid, 108, 8)
  octal(entry.gid, 116, 8)
  octal(entry.size, 124, 12)
  octal(entry.mtimeSeconds, 136, 12)
  block.write('        ', 148, 'latin1')
  block.write(typeFlag, 156, 'latin1')
  if (Buffer.byteLength(entry.linkName) <= 100) block.write(entry.linkName, 157, 100)
  block.write('ustar\x0000', 257, 'latin1')
  block.write(prefix, 345, 155)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}
