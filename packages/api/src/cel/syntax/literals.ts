// Values of CEL literals: numbers within their ranges, strings and bytes without quotes and escapes.

import { Uint } from '../values/uint.js'
import type { Token, TokenType } from './tokenize.js'

const maxInt = (1n << 63n) - 1n
const minInt = -(1n << 63n)
const maxUint = (1n << 64n) - 1n

function readInt(text: string): bigint | undefined {
  const isNegative = text.startsWith('-')
  const magnitude = BigInt(isNegative ? text.slice(1) : text)
  const value = isNegative ? -magnitude : magnitude
  return value > maxInt || value < minInt ? undefined : value
}

function readUint(text: string): Uint | undefined {
  const value = BigInt(text.slice(0, -1))
  return value > maxUint ? undefined : new Uint(value)
}

function readDouble(text: string): number | undefined {
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}

const encoder = new TextEncoder()
const simpleEscapes: { readonly [char: string]: number } = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 }

interface Escape {
  readonly end: number
  /** Byte in bytes literals, code point in strings. */
  readonly code: number
}

function readEscape(text: string, at: number): Escape {
  const char = text[at] as string
  const hex = (count: number): Escape => ({
    end: at + 1 + count,
    code: Number.parseInt(text.slice(at + 1, at + 1 + count), 16),
  })
  if (char === 'x' || char === 'X') return hex(2)
  if (char === 'u') return hex(4)
  if (char === 'U') return hex(8)
  if (char >= '0' && char <= '3') return { end: at + 3, code: Number.parseInt(text.slice(at, at + 3), 8) }
  return { end: at + 1, code: simpleEscapes[char] ?? char.charCodeAt(0) }
}

const quotedBody = (text: string): { readonly body: string; readonly isRaw: boolean } => {
  const start = text.search(/["']/)
  const isRaw = /r/i.test(text.slice(0, start))
  const quote = text[start] as string
  const length = text.startsWith(quote.repeat(3), start) && text.length - start >= 6 ? 3 : 1
  return { body: text.slice(start + length, -length), isRaw }
}

function readString(text: string): string | undefined {
  const { body, isRaw } = quotedBody(text)
  const normalized = body.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  if (isRaw || !normalized.includes('\\')) return normalized
  let out = ''
  for (let at = 0; at < normalized.length; ) {
    if (normalized[at] !== '\\') {
      out += normalized[at]
      at++
      continue
    }
    const { end, code } = readEscape(normalized, at + 1)
    if (code > 0x10ffff) return undefined
    out += code >= 0xd800 && code <= 0xdfff ? '\ufffd' : String.fromCodePoint(code)
    at = end
  }
  return out
}

function readBytes(text: string): Uint8Array | undefined {
  const { body, isRaw } = quotedBody(text)
  if (isRaw || !body.includes('\\')) return encoder.encode(body)
  const bytes: number[] = []
  for (let at = 0; at < body.length; ) {
    if (body[at] !== '\\') {
      const char = String.fromCodePoint(body.codePointAt(at) as number)
      for (const byte of encoder.encode(char)) bytes.push(byte)
      at += char.length
      continue
    }
    if (/[uU]/.test(body[at + 1] as string)) return undefined
    const { end, code } = readEscape(body, at + 1)
    bytes.push(code)
    at = end
  }
  return Uint8Array.from(bytes)
}

export const numberNames: { readonly [type in TokenType]?: string } = {
  NUM_INT: 'int',
  NUM_UINT: 'uint',
  NUM_FLOAT: 'double',
}

export function readLiteral(token: Token, text: string) {
  switch (token.type) {
    case 'true':
      return true
    case 'false':
      return false
    case 'NUM_INT':
      return readInt(text)
    case 'NUM_UINT':
      return readUint(text)
    case 'NUM_FLOAT':
      return readDouble(text)
    case 'STRING':
      return readString(text)
    case 'BYTES':
      return readBytes(text)
    default:
      return null
  }
}
