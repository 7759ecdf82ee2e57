// Rewrites the links of an HTML page as a stream, buffering at most one tag.

import { Transform, type TransformCallback } from 'node:stream'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'

const linkAttributes: { readonly [element: string]: readonly string[] } = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
}

/** Elements with raw text content. */
const rawElements = new Set(['iframe', 'noembed', 'noframes', 'plaintext', 'script', 'style', 'textarea', 'title', 'xmp'])

/** Longer tags are passed through unchanged. */
const maxTagBytes = 64 << 10

/** Bytes that are rewritten before the time budget of the event-loop iteration is checked. */
const stepBytes = 8 << 10

/** `markup`: after a `<`; `other`: markup without links; `raw`: content of an element with raw text. */
type State = 'text' | 'markup' | 'tag' | 'other' | 'comment' | 'raw'

export class HtmlLinks extends Transform {
  readonly #rewrite: (link: string) => string
  #state: State = 'text'
  #buffered = ''
  #quote = ''
  #isValueNext = false
  #rawEnd = ''

  constructor(rewrite: (link: string) => string) {
    super()
    this.#rewrite = rewrite
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    if (chunk.length > stepBytes) this.#passSteps(chunk).then(() => done(), done)
    else {
      this.#pass(chunk)
      done()
    }
  }

  async #passSteps(chunk: Buffer): Promise<void> {
    for (let start = 0; start < chunk.length; start += stepBytes) {
      this.#pass(chunk.subarray(start, start + stepBytes))
      await turnBudget.yieldIfSpent()
    }
  }

  #pass(chunk: Buffer): void {
    // latin1 keeps all bytes, whatever the encoding of the page.
    const out = this.#rewritten(chunk.toString('latin1'))
    if (out !== '') this.push(Buffer.from(out, 'latin1'))
  }

  #rewritten(text: string): string {
    let out = ''
    let at = 0
    while (at < text.length) {
      const step = this.#step(text, at)
      out += step.out
      at = step.at
    }
    return out
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#buffered === '' ? undefined : Buffer.from(this.#buffered, 'latin1'))
  }

  #step(text: string, at: number): { readonly out: string; readonly at: number } {
    switch (this.#state) {
      case 'text':
        return this.#passText(text, at)
      case 'markup':
        return this.#readMarkup(text, at)
      case 'tag':
        return this.#readTag(text, at)
      case 'other':
        return this.#passUntil(text, at, '>')
      case 'comment':
        return this.#passUntil(text, at, '-->')
      case 'raw':
        return this.#passUntil(text, at, this.#rawEnd)
    }
  }

  #passText(text: string, at: number) {
    const open = text.indexOf('<', at)
    if (open < 0) return { out: text.slice(at), at: text.length }
    this.#state = 'markup'
    this.#buffered = '<'
    return { out: text.slice(at, open), at: open + 1 }
  }

  #readMarkup(text: string, at: number) {
    const char = text[at] as string
    const opened = this.#buffered + char
    this.#buffered = opened
    if (opened === '<!' || opened === '<!-') return { out: '', at: at + 1 }
    if (isLetter(opened[1])) {
      this.#state = 'tag'
      this.#quote = ''
      this.#isValueNext = false
      return { out: '', at: at + 1 }
    }
    if (opened === '<!--') {
      this.#state = 'comment'
      this.#buffered = '--'
      return { out: '<!', at: at + 1 }
    }
    // The second `<` may open a tag.
    if (opened === '<<') {
      this.#buffered = '<'
      return { out: '<', at: at + 1 }
    }
    const isOpen = char !== '>' && (opened[1] === '!' || opened[1] === '/' || opened[1] === '?')
    return this.#release(isOpen ? 'other' : 'text', at + 1)
  }

  #release(state: State, at: number) {
    const out = this.#buffered
    this.#buffered = ''
    this.#state = state
    return { out, at }
  }

  /** A quote is a delimiter only at the start of an attribute value. */
  #readTag(text: string, from: number) {
    for (let at = from; at < text.length; at++) {
      const char = text[at] as string
      if (this.#quote !== '') {
        if (char === this.#quote) this.#quote = ''
      } else if (char === '>') {
        const tag = this.#buffered + text.slice(from, at + 1)
        this.#buffered = ''
        return { out: this.#finishTag(tag), at: at + 1 }
      } else if (char === '=') this.#isValueNext = true
      else if (this.#isValueNext && (char === '"' || char === "'")) {
        this.#quote = char
        this.#isValueNext = false
      } else if (!isSpace(char)) this.#isValueNext = false
    }
    this.#buffered += text.slice(from)
    if (this.#buffered.length <= maxTagBytes) return { out: '', at: text.length }
    return this.#release('other', text.length)
  }

  #finishTag(tag: string): string {
    const name = nameOf(tag)
    this.#state = 'text'
    if (rawElements.has(name)) {
      this.#state = 'raw'
      this.#rawEnd = `</${name}`
    }
    const links = Object.hasOwn(linkAttributes, name) ? linkAttributes[name] : undefined
    return links === undefined ? tag : rewriteTag(tag, name.length + 1, links, this.#rewrite)
  }

  #passUntil(text: string, at: number, end: string) {
    const buffered = this.#buffered
    // Joins only the bytes around the chunk boundary: a chunk may contain thousands of ends.
    const endAtBoundary = buffered === '' ? -1 : findEnd(buffered + text.slice(at, at + end.length - 1), 0, end)
    const found = endAtBoundary < 0 ? findEnd(text, at, end) : at + endAtBoundary - buffered.length
    if (found < 0 && endAtBoundary < 0) {
      const joined = buffered + text.slice(at)
      const kept = Math.min(end.length - 1, joined.length)
      this.#buffered = joined.slice(joined.length - kept)
      return { out: joined.slice(0, joined.length - kept), at: text.length }
    }
    const next = found + end.length
    this.#buffered = ''
    // The rest of an end tag has no links.
    this.#state = this.#state === 'raw' ? 'other' : 'text'
    return { out: buffered + text.slice(at, next), at: next }
  }
}

/** Element names are case-insensitive. */
function findEnd(text: string, from: number, end: string): number {
  if (!end.startsWith('</')) return text.indexOf(end, from)
  for (let at = text.indexOf('</', from); at >= 0; at = text.indexOf('</', at + 2))
    if (text.slice(at, at + end.length).toLowerCase() === end) return at
  return -1
}

const isLetter = (char: string | undefined): boolean => char !== undefined && /^[A-Za-z]$/.test(char)
const isSpace = (char: string | undefined): boolean => char === ' ' || char === '\n' || char === '\t' || char === '\r' || char === '\f'

function nameOf(tag: string): string {
  let end = 1
  while (end < tag.length && !isSpace(tag[end]) && tag[end] !== '/' && tag[end] !== '>') end++
  return tag.slice(1, end).toLowerCase()
}

function rewriteTag(tag: string, from: number, links: readonly string[], rewrite: (link: string) => string): string {
  let out = tag.slice(0, from)
  let at = from
  const last = tag.length - 1
  while (at < last) {
    const begin = at
    while (at < last && (isSpace(tag[at]) || tag[at] === '/')) at++
    const keyAt = at
    while (at < last && !isSpace(tag[at]) && tag[at] !== '=' && tag[at] !== '/') at++
    const key = tag.slice(keyAt, at).toLowerCase()
    let next = at
    while (next < last && isSpace(tag[next])) next++
    if (tag[next] !== '=') {
      out += tag.slice(begin, at)
      continue
    }
    next++
    while (next < last && isSpace(tag[next])) next++
    const value = valueAt(tag, next, last)
    out += tag.slice(begin, next)
    out += links.includes(key) ? rewriteValue(value, rewrite) : value.raw
    at = value.end
  }
  return out + tag.slice(at)
}

interface Value {
  readonly raw: string
  readonly text: string
  readonly end: number
}

function valueAt(tag: string, from: number, last: number): Value {
  const quote = tag[from]
  if (quote === '"' || quote === "'") {
    const close = tag.indexOf(quote, from + 1)
    const end = close < 0 || close > last ? last : close + 1
    return { raw: tag.slice(from, end), text: tag.slice(from + 1, close < 0 || close > last ? last : close), end }
  }
  let end = from
  while (end < last && !isSpace(tag[end])) end++
  return { raw: tag.slice(from, end), text: tag.slice(from, end), end }
}

function rewriteValue({ raw, text }: Value, rewrite: (link: string) => string): string {
  const link = text
    .replace(/&(?:amp|#38|#x26);/gi, '&')
    .replace(/&(?:quot|#34|#x22);/gi, '"')
    .replace(/&(?:#39|#x27);/gi, "'")
  const rewritten = rewrite(link)
  return rewritten === link ? raw : `"${rewritten.replaceAll('&', '&amp;').replaceAll('"', '&#34;')}"`
}
