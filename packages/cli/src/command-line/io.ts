// Input and output of commands: colours and progress on a terminal, plain text otherwise.

import { escapeTerminalControls, escapeTerminalLine } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'
import { untilDrained } from './backpressure.js'

export interface Io {
  /** Text with colours of `style`. On a terminal, other control characters are escaped. */
  out(text: string): void
  /** Data without colours. On a terminal, control characters are escaped. */
  data(text: string): void
  /** Unescaped output, also on a terminal. */
  raw(text: string): void
  err(text: string): void
  progress(text: string): void
  readStdin(): Promise<string>
  untilDrained(): Promise<unknown>
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

const unstyled = (text: string): string => text
export const plainStyle: Style = { bold: unstyled, dim: unstyled, red: unstyled, green: unstyled, yellow: unstyled, cyan: unstyled }

const ansi =
  (code: number) =>
  (text: string): string =>
    `\x1b[${code}m${text}\x1b[0m`
export const colourStyle: Style = { bold: ansi(1), dim: ansi(2), red: ansi(31), green: ansi(32), yellow: ansi(33), cyan: ansi(36) }

const ownColours = /(\x1b\[(?:[012]|3[1236])m)/

/** Escapes control characters except the codes of `colourStyle`. */
export const escapeAllButOwnColours = (text: string): string =>
  text
    .split(ownColours)
    .map((part, i) => (i % 2 === 1 ? part : escapeTerminalControls(part)))
    .join('')

export function processIo(color: string): Io {
  const { stdout, env } = process
  const isTerminal = stdout.isTTY === true
  const hasColours = color === 'always' || (color === 'auto' && isTerminal && env['NO_COLOR'] === undefined && env['TERM'] !== 'dumb')
  let hasProgress = false
  const clearProgress = (): void => {
    if (hasProgress) process.stderr.write('\r\x1b[K')
    hasProgress = false
  }
  const escapeText = hasColours ? escapeAllButOwnColours : escapeTerminalControls
  const raw = (text: string): void => {
    clearProgress()
    stdout.write(text)
  }
  return {
    isTerminal,
    style: hasColours ? colourStyle : plainStyle,
    out: (text) => raw(isTerminal ? escapeText(text) : text),
    data: (text) => raw(isTerminal ? escapeTerminalControls(text) : text),
    raw,
    err: (text) => {
      clearProgress()
      const { stderr } = process
      stderr.write(stderr.isTTY === true ? escapeText(text) : text)
    },
    progress: (text) => {
      const { stderr } = process
      if (stderr.isTTY !== true) return
      stderr.write(`\r\x1b[K${escapeTerminalLine(text).slice(0, (stderr.columns ?? 80) - 1)}`)
      hasProgress = true
    },
    untilDrained: () => untilDrained(stdout),
    readStdin: async () => {
      const chunks: Buffer[] = []
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString('utf8')
    },
  }
}
