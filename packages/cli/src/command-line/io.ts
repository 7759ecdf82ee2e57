// Where a command reads and writes: plain where nobody looks, with colours and a line of progress on a terminal.

import { printable, printableLine } from '../base/printable.js'
import { untilRoom } from './write-on.js'

export interface Io {
  /** With our own colours; on a terminal no other control character passes. */
  out(text: string): void
  /** Without colours of ours: raw for programs, and no control character passes to a terminal. */
  data(text: string): void
  /** As it is, even to a terminal. */
  raw(text: string): void
  err(text: string): void
  /** One line that the next one replaces; nothing where nobody looks. */
  progress(text: string): void
  readStdin(): Promise<string>
  /** Settles when whoever reads what we print has room for more. */
  untilRoom(): Promise<unknown>
  readonly isTerminal: boolean
  readonly style: Style
}

export interface Style {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

const plain = (text: string): string => text
export const plainStyle: Style = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain }

const coded =
  (code: number) =>
  (text: string): string =>
    `\x1b[${code}m${text}\x1b[0m`
export const colourStyle: Style = { bold: coded(1), dim: coded(2), red: coded(31), green: coded(32), yellow: coded(33), cyan: coded(36) }

/** Cuts a text at the codes of our colours; these are every second part. */
const ownCodes = /(\x1b\[(?:[012]|3[1236])m)/

/** A text with colours of ours, without anything else that acts on a terminal. */
export const withoutForeignCodes = (text: string): string =>
  text
    .split(ownCodes)
    .map((part, i) => (i % 2 === 1 ? part : printable(part)))
    .join('')

export function processIo(color: string): Io {
  // The others are made when they are first asked for, which most commands never do.
  const { stdout, env } = process
  const isTerminal = stdout.isTTY === true
  const hasColours = color === 'always' || (color === 'auto' && isTerminal && env['NO_COLOR'] === undefined && env['TERM'] !== 'dumb')
  let hasProgress = false
  const clear = (): void => {
    if (hasProgress) process.stderr.write('\r\x1b[K')
    hasProgress = false
  }
  const clean = hasColours ? withoutForeignCodes : printable
  const raw = (text: string): void => {
    clear()
    stdout.write(text)
  }
  return {
    isTerminal,
    style: hasColours ? colourStyle : plainStyle,
    out: (text) => raw(isTerminal ? clean(text) : text),
    data: (text) => raw(isTerminal ? printable(text) : text),
    raw,
    err: (text) => {
      clear()
      const { stderr } = process
      stderr.write(stderr.isTTY === true ? clean(text) : text)
    },
    progress: (text) => {
      const { stderr } = process
      if (stderr.isTTY !== true) return
      stderr.write(`\r\x1b[K${printableLine(text).slice(0, (stderr.columns ?? 80) - 1)}`)
      hasProgress = true
    },
    untilRoom: () => untilRoom(stdout),
    readStdin: async () => {
      const chunks: Buffer[] = []
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString('utf8')
    },
  }
}
