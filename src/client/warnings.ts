// Warnings that come with an answer, in the header of that name.

import { decodeHeader } from '../base/header-text.js'

export interface Warning {
  readonly code: number
  readonly agent: string
  readonly text: string
}

/** `299 - "a text", 299 - "another"`: what does not read like that is left out. Linear in the length of the header. */
export function readWarnings(bytes: string): readonly Warning[] {
  const header = decodeHeader(bytes)
  const warnings: Warning[] = []
  let at = 0
  while (at < header.length) {
    const space = header.indexOf(' ', at)
    const second = space < 0 ? -1 : header.indexOf(' ', space + 1)
    if (second < 0 || header[second + 1] !== '"') return warnings
    const { text, end } = readQuoted(header, second + 2)
    const code = Number(header.slice(at, space))
    if (Number.isInteger(code)) warnings.push({ code, agent: header.slice(space + 1, second), text })
    const comma = header.indexOf(',', end)
    if (comma < 0) return warnings
    at = comma + 1
    while (header[at] === ' ') at++
  }
  return warnings
}

function readQuoted(header: string, start: number): { readonly text: string; readonly end: number } {
  let text = ''
  let at = start
  for (; at < header.length && header[at] !== '"'; at++) {
    if (header[at] === '\\') at++
    text += header[at] ?? ''
  }
  return { text, end: at + 1 }
}
