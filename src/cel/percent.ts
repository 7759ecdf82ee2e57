// Percent-encoding in URLs: which letters stand for themselves in which part, what is decoded and how it is encoded again.

import { quoteText } from './quote.js'

export type UrlPart = 'host' | 'zone' | 'path' | 'user' | 'query' | 'fragment'

/** Nothing was decoded: the text is wrong. */
export class UrlError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

const unreserved = '-_.~'
const ofHost = `!$&'()*+,;=:[]<>"`
/** Beside letters, digits and what is never reserved. */
const plainIn: { readonly [part in UrlPart]: string } = {
  host: `${unreserved}${ofHost}`,
  zone: `${unreserved}${ofHost}`,
  path: `${unreserved}$&+,/:;=@`,
  user: `${unreserved}$&+,;=`,
  query: unreserved,
  fragment: `${unreserved}$&+,/:;=?@!()*`,
}

const isPlain = (letter: string, part: UrlPart): boolean => /^[A-Za-z0-9]$/.test(letter) || plainIn[part].includes(letter)

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const isEscape = (text: string): boolean => /^%[0-9A-Fa-f]{2}$/.test(text)

/** Whether such an escape may stand in such a part. In names of hosts only letters beyond ASCII are escaped. */
function isAllowed(encoded: string, part: UrlPart): boolean {
  if (encoded === '%25') return true
  const code = Number.parseInt(encoded.slice(1), 16)
  if (part === 'host') return code >= 0x80
  return part !== 'zone' || code === 0x20 || isPlain(String.fromCharCode(code), 'host')
}

/** What the text stands for. */
export function decode(text: string, part: UrlPart): string | UrlError {
  const isHost = part === 'host' || part === 'zone'
  const bytes: number[] = []
  for (let at = 0; at < text.length; ) {
    const letter = String.fromCodePoint(text.codePointAt(at) as number)
    if (letter === '%') {
      const encoded = text.slice(at, at + 3)
      if (!isEscape(encoded) || !isAllowed(encoded, part)) return new UrlError(`invalid URL escape ${quoteText(encoded)}`)
      bytes.push(Number.parseInt(encoded.slice(1), 16))
      at += 3
      continue
    }
    if (isHost && letter < '\u0080' && !isPlain(letter, part)) return new UrlError(`invalid character ${quoteText(letter)} in host name`)
    for (const byte of encoder.encode(letter === '+' && part === 'query' ? ' ' : letter)) bytes.push(byte)
    at += letter.length
  }
  return decoder.decode(Uint8Array.from(bytes))
}

export function encode(text: string, part: UrlPart): string {
  let out = ''
  for (const letter of text) {
    if (isPlain(letter, part)) out += letter
    else if (letter === ' ' && part === 'query') out += '+'
    else for (const byte of encoder.encode(letter)) out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}

/** As it was written, where that is a proper encoding; else encoded anew. */
export function keepOrEncode(written: string, decoded: string, part: 'path' | 'fragment'): string {
  const isProper = Array.from(written).every((letter) => "!$&'()*+,;=:@[]%".includes(letter) || isPlain(letter, part))
  return isProper ? written : encode(decoded, part)
}
